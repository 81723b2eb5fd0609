"""What Redis does in one go, so that nothing comes in between (in its Lua)."""

# Of the state and of the polls the later one stays, whoever brings it. There is a new
# number when something is new, and when what was brought had numbers that no other
# process knows; then all processes are told to compare as well.
#
# KEYS  the room, its channel
# ARGV  seconds to keep it, epoch, seq, state, its time, polls, their time
# gives whether Redis had forgotten it; epoch, seq, state, its time, polls, their time
SHARE = """
local known = redis.call(
  'HMGET', KEYS[1], 'epoch', 'seq', 'state', 'state_at', 'polls', 'polls_at')
local forgotten = not known[1]
local epoch = known[1] or ARGV[2]
local seq, mine = tonumber(known[2] or '0'), tonumber(ARGV[3])
local newer, older = false, false
for what = 3, 5, 2 do
  local before, at = tonumber(known[what + 1] or '-1'), tonumber(ARGV[what + 2])
  if at > before then
    newer, known[what], known[what + 1] = true, ARGV[what + 1], ARGV[what + 2]
  elseif at < before then
    older = true
  end
end
if forgotten or newer or mine > seq or (mine == seq and older) then
  if older then
    seq = math.max(seq, mine) + 1
  elseif newer and not forgotten then
    seq = math.max(seq + 1, mine)
  else
    seq = math.max(seq, mine)
  end
  redis.call('HSET', KEYS[1], 'epoch', epoch, 'seq', seq, 'state', known[3],
    'state_at', known[4], 'polls', known[5], 'polls_at', known[6])
  redis.call('PUBLISH', KEYS[2], cjson.encode({epoch = epoch, seq = seq}))
end
redis.call('EXPIRE', KEYS[1], ARGV[1])
return {forgotten and 1 or 0, epoch, string.format('%.0f', seq),
  known[3], known[4], known[5], known[6]}
"""

# Of each voter the later vote stays; those that are new are told to all processes.
#
# KEYS  the votes of a poll, the room's channel
# ARGV  seconds to keep them, the poll, then voter and vote, as often as needed
SHARE_VOTES = """
local news = {}
for i = 3, #ARGV, 2 do
  local known = redis.call('HGET', KEYS[1], ARGV[i])
  if not known or known < ARGV[i + 1] then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
    news[ARGV[i]] = ARGV[i + 1]
  end
end
if next(news) then
  redis.call('EXPIRE', KEYS[1], ARGV[1])
  redis.call('PUBLISH', KEYS[2], cjson.encode({poll = ARGV[2], votes = news}))
end
"""
