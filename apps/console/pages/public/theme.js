// Before the first paint: a file of its own, since the policy of the page allows no inline script.
const theme = localStorage.getItem('theme')
if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
