/** What `npm start` prints when the product is ready. */
export function describeProduct(options: {
  baseUrl: string
  /** Absolute path of the data. */
  directory: string
  /** The same, for the eye. */
  shown: string
  metricsPorts: number[]
}): string {
  const { baseUrl, directory, shown, metricsPorts } = options
  const demo = (field: string) => {
    const script = `require(process.argv[1]).${field}`
    return `$(node -p ${quoteForShell(script)} ${quoteForShell(`${directory}/demo.json`)})`
  }
  const metrics =
    metricsPorts.length === 0 ? '' : ` Metrics are at /metrics of the ports ${metricsPorts.join(', ')}.`
  return `
Automation rules: ${baseUrl}        docs: ${baseUrl}/docs

Try it, in another terminal:

  curl -s ${baseUrl}/api/events \\
    -H "authorization: Bearer ${demo('token')}" \\
    -H "x-workspace-id: ${demo('workspaceId')}" \\
    -H 'content-type: application/json' \\
    -d '{"eventType":"LEAD_CREATED","data":{"name":"Ada","score":95}}'

The response says how many rules matched, and has the id of the event. What became of it, and why each rule ran or not:

  npm run -s client -- events why <id>

Mail is written to ${shown}/mail, logs to ${shown}/logs.${metrics} Ctrl-C stops everything.`
}

/** A text as one word of a POSIX shell. */
function quoteForShell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
