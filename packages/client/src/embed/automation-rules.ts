import { readColorScheme, watchColorScheme } from './color-scheme.js'
import { findAddress } from './find-address.js'
import { type AutomationRulesEvents, type ColorScheme, isEvent, type ToFrame } from './messages.js'

interface Typed {
  addEventListener<Type extends keyof AutomationRulesEvents>(
    type: Type,
    listener: (event: CustomEvent<AutomationRulesEvents[Type]>) => void,
    options?: boolean | AddEventListenerOptions,
  ): void
}

/** Where a server draws the page there are no elements, and this module may be imported all the same. */
const Base = (globalThis.HTMLElement ?? class {}) as unknown as { new (): HTMLElement & Typed }

/** What the frame may do: run its scripts with its own origin, submit forms to them, and open documents in a tab. */
const sandbox = 'allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox'
const style =
  ':host{display:block}:host([hidden]){display:none}iframe{display:block;width:100%;height:30rem;max-height:var(--frame-max-height,calc(100dvh - var(--above,0px)));border:0}'
/** A page is longer only if something is wrong. */
const tallest = 50_000
/** How long (ms) a frame that has loaded may take until its scripts run. */
const silenceMs = 10_000
/** How long (ms) the frame may take for a step back of its own. */
const stepMs = 300

/**
 * `<automation-rules src path color-scheme history>`: the rules of a customer in a frame. Only its own frame, and only the origin of `src`, is
 * heard and told anything.
 */
export class AutomationRules extends Base {
  static readonly observedAttributes = ['src', 'path', 'color-scheme', 'aria-label']
  readonly #root = this.attachShadow({ mode: 'open' })
  #frame: HTMLIFrameElement | undefined
  #origin = ''
  /** Its scripts run. */
  #isThere = false
  /** It has said more than hello, so it knows this page and does what it is told. */
  #isListening = false
  /** Where it is, and where it has to go once it listens. */
  #shown: string | undefined
  #wanted: string | undefined
  #colorScheme: ColorScheme | undefined
  /** Ends what listens; undefined while the element is in no document, and until all its attributes are known. */
  #connection: AbortController | undefined

  /** Url of an embed session. Another one hands the new session over. */
  get src(): string {
    return this.getAttribute('src') ?? ''
  }

  set src(url: string) {
    this.setAttribute('src', url)
  }

  /** Page that is opened first, such as `rules` or `rules/<id>?tab=history`. A change opens that page. */
  get path(): string {
    return this.getAttribute('path') ?? ''
  }

  set path(path: string) {
    this.setAttribute('path', path)
  }

  /** `light`, `dark`, or `auto`, which is that of the page around it. Without one, the session decides. */
  get colorScheme(): string {
    return this.getAttribute('color-scheme') ?? ''
  }

  set colorScheme(scheme: string) {
    this.setAttribute('color-scheme', scheme)
  }

  connectedCallback(): void {
    for (const name of ['src', 'path', 'colorScheme'] as const) this.#takeOver(name)
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(style)
    this.#root.adoptedStyleSheets = [sheet]
    this.#connection = new AbortController()
    const { signal } = this.#connection
    addEventListener('message', (event) => this.#receive(event), { signal })
    addEventListener('popstate', () => this.#followHistory(), { signal })
    watchColorScheme(() => this.#showColorScheme(), signal)
    this.#load()
  }

  disconnectedCallback(): void {
    this.#connection?.abort()
    this.#connection = undefined
    this.#removeFrame()
  }

  /** `moveBefore` keeps the frame as it is. */
  connectedMoveCallback(): void {}

  attributeChangedCallback(name: string, before: string | null, now: string | null): void {
    if (before === now || this.#connection === undefined) return
    if (name === 'src') this.#load()
    else if (name === 'path') this.open(this.path)
    else if (name === 'aria-label') this.#name(this.#frame)
    else this.#showColorScheme()
  }

  /** Saves the form that is open: `saved` or `error` follows. */
  save(): void {
    this.#post('save', {})
  }

  /** Drops what is typed in it: `dirty` follows. */
  discard(): void {
    this.#post('discard', {})
  }

  /** Opens a page, such as `executions`. */
  open(path: string): void {
    if (this.#isListening) this.#post('open', { path })
    else this.#wanted = path
  }

  /** A property that was set before this class was there hides the one of the class. */
  #takeOver(name: 'src' | 'path' | 'colorScheme'): void {
    if (!Object.hasOwn(this, name)) return
    const value = this[name]
    delete (this as Partial<AutomationRules>)[name]
    this[name] = value
  }

  #load(): void {
    if (this.#connection === undefined || this.src === '') return
    const address = findAddress(this.src, this.#wanted ?? this.#pathOfHistory() ?? this.path)
    if (address === undefined) this.#fail(`src is no url of an embed session: ${this.src.split('#', 1)}`)
    else if (this.#isListening && address.origin === this.#origin) this.#post('session', { url: this.src })
    else {
      this.#removeFrame()
      this.#wanted = undefined
      this.#origin = address.origin
      this.#frame = this.#root.appendChild(this.#makeFrame(address.href))
    }
  }

  /** A new element each time: another `src` of the same one would be a step of the host's history. */
  #makeFrame(src: string): HTMLIFrameElement {
    const frame = document.createElement('iframe')
    this.#name(frame)
    frame.setAttribute('sandbox', sandbox)
    frame.allow = 'clipboard-write'
    frame.referrerPolicy = 'no-referrer'
    frame.onload = () => setTimeout(() => this.#checkLoaded(frame), silenceMs)
    frame.src = src
    return frame
  }

  #name(frame: HTMLIFrameElement | undefined): void {
    if (frame) frame.title = this.getAttribute('aria-label') ?? 'Automation rules'
  }

  #removeFrame(): void {
    this.#frame?.remove()
    this.#frame = undefined
    this.#isThere = this.#isListening = false
    this.#shown = this.#colorScheme = undefined
  }

  #checkLoaded(frame: HTMLIFrameElement): void {
    if (frame === this.#frame && !this.#isThere)
      this.#fail(
        `${this.#origin} does not show the frame: is ${location.origin} in embedOrigins of the workspace or in EMBED_ORIGINS, and is the session live?`,
      )
  }

  /** It is said in the browser's console, too: an empty frame says nothing. */
  #fail(message: string): void {
    reportError(new Error(`automation-rules: ${message}`))
    this.#tell('error', { message })
  }

  #receive({ source, origin, data }: MessageEvent): void {
    if (this.#frame === undefined || source !== this.#frame.contentWindow || origin !== this.#origin) return
    if (data?.automation !== 1) return
    const { automation: _, type, ...detail } = data
    if (type === 'hello') this.#greet()
    else this.#hear(this.#frame, type, detail)
  }

  // biome-ignore lint/suspicious/noExplicitAny: the console that is framed says what its messages have
  #hear({ style }: HTMLIFrameElement, type: unknown, detail: any): void {
    this.#isListening = true
    if (type === 'height') this.#size(style, Number(detail.px) || 0)
    else if (isEvent(type)) {
      if (type === 'path') this.#follow(detail.path)
      this.#tell(type, detail)
    }
    if (this.#wanted !== undefined) this.#post('open', { path: this.#wanted })
    this.#wanted = undefined
  }

  /** The end of the frame, where its notices are, is seen without scrolling the page, unless the element is far down on it. */
  #size(style: CSSStyleDeclaration, px: number): void {
    const above = Math.max(0, this.getBoundingClientRect().top + scrollY)
    style.height = `${Math.min(px, tallest)}px`
    style.setProperty('--above', `${above < innerHeight / 2 ? above : 0}px`)
  }

  #tell<Type extends keyof AutomationRulesEvents>(type: Type, detail: AutomationRulesEvents[Type]): void {
    this.dispatchEvent(new CustomEvent(type, { detail }))
  }

  #greet(): void {
    this.#isThere = true
    this.#colorScheme = readColorScheme(this)
    this.#post('hello', this.#colorScheme === undefined ? {} : { colorScheme: this.#colorScheme })
  }

  #showColorScheme(): void {
    const colorScheme = readColorScheme(this)
    if (!this.#isThere || colorScheme === undefined || colorScheme === this.#colorScheme) return
    this.#colorScheme = colorScheme
    this.#post('colorScheme', { colorScheme })
  }

  #post<Type extends keyof ToFrame>(type: Type, content: ToFrame[Type]): void {
    if (this.#isThere)
      this.#frame?.contentWindow?.postMessage({ automation: 1, type, ...content }, this.#origin)
  }

  /** With the attribute `history`, the fragment of the page's address is the path of the frame. */
  #pathOfHistory(): string | undefined {
    return this.hasAttribute('history') && location.hash.length > 1 ? location.hash.slice(1) : undefined
  }

  /** Each step of the frame is one of the browser's history already. */
  #follow(path: string): void {
    this.#shown = path
    if (this.hasAttribute('history')) history.replaceState(history.state, '', `#${path}`)
  }

  /** The frame takes its own steps back, but those from before a reload. */
  #followHistory(): void {
    setTimeout(() => {
      const path = this.#pathOfHistory()
      if (path !== undefined && path !== this.#shown) this.open(path)
    }, stepMs)
  }
}
