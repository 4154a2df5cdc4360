import { z } from 'zod'
import { signingSecretBinding } from '#domain/integrations/record.ts'
import type { Keys } from '#infra/crypto/keys.ts'
import { seal } from '#infra/crypto/seal.ts'
import { generateSecret } from '#infra/crypto/secret-hash.ts'

/** A signing secret as it is given: left out or blank, one is made. */
export const GivenSecret = z
  .union([z.literal(''), z.string().min(16, 'needs at least 16 characters').max(500)])
  .optional()
  .describe('Made, and shown once, when it is left out or blank.')

export type SealingKeys = Pick<Keys, 'sealing'>

/** Separates given secrets from those to make. */
export const chosenSecret = (
  given: string | undefined,
  make: () => string = generateSecret,
): { readonly secret: string; readonly generated: boolean } =>
  given ? { secret: given, generated: false } : { secret: make(), generated: true }

export const sealSigningSecret = (keys: SealingKeys, secret: string, organisationId: string, id: string): string =>
  seal(keys, secret, signingSecretBinding(organisationId, id))
