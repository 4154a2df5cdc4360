import type { Keys } from '#infra/crypto/keys.ts'
import { holdsSecret, seal } from '#infra/crypto/seal.ts'
import type { Writer } from './handle.ts'

/** The parts with which accounts of an organisation with outside parties are set. */
export type AccountsDeps = {
  readonly writer: Writer
  readonly keys: Pick<Keys, 'sealing'>
  /** True where the operator's configuration permits plain http to an address. */
  readonly allowsHttp: (address: string) => boolean
}

/** Secrets that are left out stay as they are. */
export type MayKeepSecrets<Given, Name extends string> = Omit<Given, Name | 'webhook_secret'> & {
  readonly [Key in Name]?: string | undefined
} & { readonly webhook_secret?: string | null | undefined }

type Secrets = {
  /** Each opens only with its own. */
  readonly bindings: { readonly secret: readonly string[]; readonly webhook_secret: readonly string[] }
  readonly given: { readonly secret: string | undefined; readonly webhook_secret?: string | null | undefined }
  /** Those in force, sealed; undefined: there is no account. */
  readonly held: { readonly secret: string; readonly webhook_secret: string | null } | undefined
}

/** The secrets of an account as they are stored. Sealed again the same ones differ, so whether they are is said. */
export const sealSecrets = (keys: AccountsDeps['keys'], { bindings, given, held }: Secrets) => {
  const { secret, webhook_secret } = given
  const isHeld = (name: 'secret' | 'webhook_secret', sealed: string | null, one: string | null): boolean =>
    sealed === null || one === null ? sealed === one : holdsSecret(keys, sealed, bindings[name], one)
  return {
    sealed_secret: secret === undefined ? (held?.secret ?? '') : seal(keys, secret, bindings.secret),
    sealed_webhook_secret:
      webhook_secret === undefined
        ? (held?.webhook_secret ?? null)
        : webhook_secret && seal(keys, webhook_secret, bindings.webhook_secret),
    keeps: { secret: secret === undefined, webhook_secret: webhook_secret === undefined },
    are_same_secrets:
      held !== undefined &&
      (secret === undefined || isHeld('secret', held.secret, secret)) &&
      (webhook_secret === undefined || isHeld('webhook_secret', held.webhook_secret, webhook_secret)),
  }
}
