// Wide tables scroll sideways; by keyboard too, once they can have the focus. The theme wraps them after the page is there.
const reachable = () => {
  for (const wrap of document.querySelectorAll('.md-typeset__scrollwrap')) wrap.tabIndex = 0;
};
new MutationObserver(reachable).observe(document.body, { childList: true, subtree: true });
reachable();
