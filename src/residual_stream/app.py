"""The lesson page as a Panel application: `panel serve` takes this file as it is."""

from bokeh.io import curdoc

from residual_stream.serve.session import default_publication, open_session

if __name__.startswith("bokeh_app"):
    open_session(curdoc(), default_publication())
