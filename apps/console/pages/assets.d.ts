declare module '*.css'
declare module '*.svg' {
  /** Its address. */
  const url: string
  export default url
}
