// The connection to the class: one WebSocket, opened anew whenever it is lost.

const CHANNEL_FIRST_PAUSE = 300; // ms, then twice as long each time
const CHANNEL_LONGEST_PAUSE = 8000;
const CHANNEL_FULL_PAUSE = 10000;
const CHANNEL_OPENS_WITHIN = 10000;
const CHANNEL_SILENCE = 40000; // the server says something every 15 s
const CHANNEL_MISSED_BEAT = 20000;
const CHANNEL_LOOK_EVERY = 2000;
const CHANNEL_TRY_LATER = 1013; // RFC 6455's registry: the room is full

/**
 * @param url
 * @param hello  () -> the first message of each connection
 * @param hear   (message) for each that comes
 * @param lost   ({isFull}) when there is no connection any more, or still none
 * @returns {open: at once, also in place of one that is there, send(message) -> whether it
 *           went, remove}
 */
export function createClassChannel({ url, hello, hear, lost }) {
  let socket = null;
  let isWelcome = false;
  let heardAt = 0;
  let pause = CHANNEL_FIRST_PAUSE;
  let timer = 0;

  function open() {
    leave();
    const mine = new WebSocket(url);
    socket = mine;
    heardAt = Date.now();
    mine.onopen = () => mine.send(JSON.stringify(hello()));
    mine.onmessage = ({ data }) => read(data);
    mine.onclose = ({ code }) => gone(code === CHANNEL_TRY_LATER);
  }

  /** Away from a connection at once: one that is dead may take minutes to close. */
  function leave() {
    clearTimeout(timer);
    if (socket === null) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
    socket = null;
    isWelcome = false;
  }

  function gone(isFull) {
    leave();
    lost({ isFull });
    const wait = isFull ? CHANNEL_FULL_PAUSE : pause;
    pause = Math.min(2 * pause, CHANNEL_LONGEST_PAUSE);
    // a whole class is thrown out at once, and must not come back in one moment
    timer = setTimeout(open, wait * (0.5 + Math.random()));
  }

  function read(text) {
    heardAt = Date.now();
    const message = JSON.parse(text);
    if (message.type === "welcome") {
      isWelcome = true;
      pause = CHANNEL_FIRST_PAUSE;
    }
    hear(message);
  }

  function send(message) {
    if (!isWelcome || socket.readyState !== WebSocket.OPEN) return false;
    socket.send(JSON.stringify(message));
    return true;
  }

  const silence = () => Date.now() - heardAt;

  function look() {
    if (socket === null) return;
    const isOpening = socket.readyState === WebSocket.CONNECTING;
    if (silence() > (isOpening ? CHANNEL_OPENS_WITHIN : CHANNEL_SILENCE)) gone(false);
  }

  /** Somebody looks again: no more waiting, and no trust in a line that has been silent. */
  function seen() {
    if (document.hidden) return;
    if (socket === null || silence() > CHANNEL_MISSED_BEAT) open();
  }

  const looking = setInterval(look, CHANNEL_LOOK_EVERY);
  const listeners = [[window, "online", open], [document, "visibilitychange", seen]];
  for (const [target, name, listener] of listeners) target.addEventListener(name, listener);

  function remove() {
    clearInterval(looking);
    for (const [target, name, listener] of listeners) target.removeEventListener(name, listener);
    leave();
  }

  return { open, send, remove };
}
