"""The lesson's views: the browser's modules and the Panel component around them."""
