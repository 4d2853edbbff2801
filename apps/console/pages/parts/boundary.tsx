import { Component, type ComponentChildren } from 'preact'
import { Problem } from './states.js'

interface Props {
  /** Another one is drawn anew. */
  path: string
  children: ComponentChildren
}

/** Shows in place of what could not be drawn that it could not, and why. */
export class Boundary extends Component<Props, { error?: unknown }> {
  static override getDerivedStateFromError(error: unknown) {
    return { error }
  }

  override componentDidUpdate({ path }: Props): void {
    if (path !== this.props.path && this.state.error !== undefined) this.setState({ error: undefined })
  }

  override render() {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return <Problem error={error} retry={() => this.setState({ error: undefined })} />
  }
}
