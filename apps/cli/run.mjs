// node run.mjs <program> …: runs a program of this directory, or reports that it is not built yet.
const [program] = process.argv.splice(2, 1)
try {
  await import(`./dist/src/${program}.js`)
} catch (error) {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
  console.error('The product is not built yet: run `npm start` once, or `npm ci && npm run build`.')
  process.exitCode = 1
}
