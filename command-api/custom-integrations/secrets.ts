import { integrationSecretBinding, type SealedConnection } from '#domain/custom-integrations/record.ts'
import { Rejection } from '#domain/rejection.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import { holdsSecret, seal } from '#infra/crypto/seal.ts'
import { generateSecret } from '#infra/crypto/secret-hash.ts'

export type SealingKeys = Pick<Keys, 'sealing'>

type Secrets = Readonly<Record<string, string>>

/** Secrets as they were given, by name. */
export type Given = Readonly<Record<string, string | null>>

const fewestCharacters = 16

/** Refuses a short signing secret: who finds it out can post in the other system's name. Throws `validation_failed`. */
export const refuseShortSigningSecret = (
  given: Given,
  { inbound }: { readonly inbound?: { readonly signing_secret: string | null } | null | undefined },
): void => {
  const name = inbound?.signing_secret ?? ''
  const secret = given[name]
  if (secret && secret.length < fewestCharacters)
    throw new Rejection('validation_failed', `Correct secrets.${name} and send the request again.`, {
      [`secrets.${name}`]: `needs at least ${fewestCharacters} characters`,
    })
}

/** The secrets to set, with those that were left blank made. */
export const chosenSecrets = (
  given: Given,
  make: (name: string) => string = generateSecret,
): { readonly secrets: Secrets; readonly generated: Secrets } => {
  const generated = Object.fromEntries(
    Object.entries(given).flatMap(([name, secret]) => (secret ? [] : [[name, make(name)] as const])),
  )
  const known = Object.entries(given).flatMap(([name, secret]) => (secret ? [[name, secret] as const] : []))
  return { secrets: { ...Object.fromEntries(known), ...generated }, generated }
}

export const sealSecrets = (
  keys: SealingKeys,
  secrets: Secrets,
  organisation_id: string,
  connection_id: string,
): Secrets =>
  Object.fromEntries(
    Object.entries(secrets).map(([name, secret]) => [
      name,
      seal(keys, secret, integrationSecretBinding(organisation_id, connection_id, name)),
    ]),
  )

/** The declared secrets that are not in force: others, and those that were never made. */
export const secretsToSet = (
  keys: SealingKeys,
  given: Given,
  { organisation_id, id, sealed_secrets }: SealedConnection,
): Given =>
  Object.fromEntries(
    Object.entries(given).filter(([name, secret]) => {
      const sealed = sealed_secrets[name]
      if (sealed === undefined) return true
      return secret ? !holdsSecret(keys, sealed, integrationSecretBinding(organisation_id, id, name), secret) : false
    }),
  )
