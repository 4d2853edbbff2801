import { randomBytes } from 'node:crypto'
import { type Sealer, sealingContext, type Tenant } from '@automation/access'
import type { FastifyInstance } from 'fastify'
import { UnopenedSecrets } from './unopened-secrets.js'

export interface StoredSecret extends Tenant {
  id: string
  workspaceId: string
  provider: string
  sealed: Uint8Array
}

/** With its opened bytes. */
export type Opened<Secret extends StoredSecret> = Secret & { opened: Buffer }

/**
 * Opens secrets. Where there is none, or it does not open, it opens a decoy, which takes the same time: nobody learns from the answer's time
 * whether there is a secret.
 */
export class SecretOpener {
  /** What no sender can sign with. */
  readonly decoy: Opened<StoredSecret>
  readonly #sealer: Sealer
  readonly #unopened: UnopenedSecrets

  constructor(app: FastifyInstance, sealer: Sealer) {
    this.#sealer = sealer
    this.#unopened = new UnopenedSecrets(app.log, () => app.metrics.unopenedSecrets.inc())
    const nobody = {
      ...{ id: noId, workspaceId: noId, provider: '' },
      ...({ plan: 'standard', createdBy: null, isSuspended: false, isClosed: false } as const),
    }
    this.decoy = this.#open({ ...nobody, sealed: sealer.seal(randomBytes(32), sealingContext(nobody)) })
  }

  /** @returns undefined where the decoy was opened instead */
  open<Secret extends StoredSecret>(secret: Secret | undefined): Opened<Secret> | undefined {
    try {
      if (secret !== undefined && !this.#unopened.has(secret)) return this.#open(secret)
    } catch {
      // Its delivery is refused like one with an unknown secret.
    }
    if (secret !== undefined) this.#unopened.note(secret)
    this.#open(this.decoy)
    return undefined
  }

  /** @throws Error where no key opens it */
  #open<Secret extends StoredSecret>(secret: Secret): Opened<Secret> {
    return { ...secret, opened: this.#sealer.open(secret.sealed, sealingContext(secret)) }
  }
}

export const noId = '00000000-0000-0000-0000-000000000000'
