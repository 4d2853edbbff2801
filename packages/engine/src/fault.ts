/** One fault: its path, such as `actions[1].config.to`, and a message. */
export interface Fault {
  field: string
  message: string
}
