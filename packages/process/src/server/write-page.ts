/**
 * Writes a page that works without scripts, for people without an account.
 *
 * @param title HTML, as `lines` is: texts of strangers are escaped
 */
export function writePage(title: string, lines: string[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<link rel="stylesheet" href="/decide/style.css">
</head>
<body>
<main>
<h1>${title}</h1>
${lines.join('\n')}
</main>
</body>
</html>
`
}
