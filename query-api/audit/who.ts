import { z } from 'zod'
import type { Directory } from '#domain/access/record.ts'
import type { Actor, Metadata } from '#domain/event.ts'

/** Who did something, and as what. */
export const Who = z
  .object({
    as: z
      .enum(['user', 'operator', 'api_application', 'reaction', 'timer', 'service'])
      .describe(
        'reaction: it followed from another event by itself. timer: its time had come. service: the service itself, or a provider that reported to it.',
      ),
    name: z
      .string()
      .nullable()
      .describe(
        'The user, the operator key, the API application, the reaction, the timer or the provider. A user who was erased is `person` and the begin of the id.',
      ),
    id: z.string().nullable(),
  })
  .meta({ id: 'Actor' })
export type Who = z.input<typeof Who>

const timer = /^timer (.+)$/

/** Who an actor is; of a user, the name is not among it. */
export const whoOf = (
  applications: Directory['applications'],
  { type, id }: Actor,
  { cause, causation_id }: Pick<Metadata, 'cause' | 'causation_id'>,
): Who => {
  if (type === 'api') return { as: 'api_application', name: applications.get(id ?? '')?.name ?? null, id }
  if (type === 'operator') return { as: 'operator', name: id, id }
  if (type === 'user') return { as: 'user', name: null, id }
  const [, kind] = timer.exec(id ?? '') ?? []
  if (kind) return { as: 'timer', name: kind, id }
  return { as: cause || causation_id ? 'reaction' : 'service', name: id, id }
}

/** The same with the name of a user. */
export const named = async <Found extends Who>(
  who: Found,
  nameOf: (user_id: string) => Promise<string>,
): Promise<Found> => (who.as === 'user' && who.id !== null ? { ...who, name: await nameOf(who.id) } : who)
