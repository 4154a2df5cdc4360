import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto'
import type { ApplicationId } from '#domain/values.ts'
import type { Keys } from './keys.ts'

const digestOf = (key: KeyObject, id: ApplicationId): Buffer => createHmac('sha256', key).update(id).digest()

/** The key to an application. It follows from the application's id, so nothing is stored. */
export const shareTokenOf = ({ shareTokens }: Pick<Keys, 'shareTokens'>, id: ApplicationId): string =>
  digestOf(shareTokens.key, id).toString('base64url')

/**
 * True where a request proved that it may see the application, by a token of the present master key or of an earlier one;
 * takes as long for a wrong token as for the right one.
 */
export const isShareTokenOf = (
  { shareTokens }: Pick<Keys, 'shareTokens'>,
  id: ApplicationId,
  given: string | undefined,
): boolean => {
  if (given === undefined || !/^[\w-]{43}$/.test(given)) return false
  const bytes = Buffer.from(given, 'base64url')
  // The last character has bits to spare: a token that differs only in those is another token.
  if (bytes.toString('base64url') !== given) return false
  const matches = [shareTokens.key, ...shareTokens.earlier].map((key) => timingSafeEqual(bytes, digestOf(key, id)))
  return matches.includes(true)
}
