import { createHash } from 'node:crypto'
import { z } from 'zod'
import { OrganisationId, type UserRole } from '#domain/values.ts'
import { impersonalRoute, inBackground, route, type Route, type StreamedEvent } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import type { FollowWaiting } from './follow-waiting.ts'
import { kindsFor } from './kinds.ts'
import { readWaiting, Waiting, type Reading } from './waiting.ts'

type Deps = { readonly pool: Database; readonly followWaiting: FollowWaiting }

const Work = z.object({
  data: z.object({
    waiting: z.array(Waiting),
    read_at: z.iso
      .datetime()
      .describe('When it was counted: what was counted before says nothing new, whichever process tells it.'),
  }),
})
type Work = z.output<typeof Work>

const shownTo = (roles: readonly UserRole[] | undefined, { at, waiting }: Reading): Work => {
  const own: readonly string[] = kindsFor(roles)
  return { data: { waiting: waiting.filter(({ work }) => own.includes(work)), read_at: new Date(at).toISOString() } }
}

/** The moment of a reading, and a digest of what is shown of it: any process knows by it what its client has seen. */
type Seen = { readonly at: number; readonly digest: string }

const idOf = ({ at, digest }: Seen): string => `${at}-${digest}`

const seenIn = (id: string | undefined): Seen | undefined => {
  const [, at, digest] = /^(\d{1,20}(?:\.\d{1,6})?)-([\da-f]{16})$/.exec(id ?? '') ?? []
  return digest === undefined ? undefined : { at: Number(at), digest }
}

const digestOf = ({ data: { waiting } }: Work): string =>
  createHash('sha256').update(JSON.stringify(waiting)).digest('hex').slice(0, 16)

const nothing: Work = { data: { waiting: [], read_at: new Date(0).toISOString() } }

/**
 * The event of a reading, where it shows something else than was seen before. What was read here before another process told the
 * client what it has seen is not told.
 */
const makeTeller = (roles: readonly UserRole[] | undefined, lastEventId: string | undefined) => {
  let seen = seenIn(lastEventId)
  let isFirst = true
  return (reading: Reading): StreamedEvent | undefined => {
    const data = shownTo(roles, reading)
    const now = { at: reading.at, digest: digestOf(data) }
    const isOlder = isFirst && seen !== undefined && now.at < seen.at
    isFirst = false
    if (isOlder || now.digest === seen?.digest) return undefined
    seen = now
    return { id: idOf(now), data }
  }
}

/** Shows what waits for whoever asks once, or tells it whenever it changes. */
export const workRoute = ({ pool, followWaiting }: Deps): Route =>
  route(
    {
      ...inBackground(impersonalRoute('leads', 'underwriting', 'policies', 'claims', 'finance', 'owner')),
      method: 'get',
      address: '/admin/v1/organisations/:organisation_id/work',
      summary:
        'Show how much waits for whoever asks, by their roles; asked for as text/event-stream, it is told again whenever it changes',
      path: z.object({ organisation_id: OrganisationId }),
      headers: {
        'Last-Event-ID':
          'Of a stream: the id of the last event that came. What has not changed since is not told again.',
      },
      streams: true,
      answers: { 200: Work },
    },
    async ({ path: { organisation_id }, user, header }) => {
      if (!(header('accept') ?? '').includes('text/event-stream')) {
        const reading = (await readWaiting(pool, [organisation_id])).get(organisation_id)
        return { status: 200, body: shownTo(user?.roles, reading ?? { at: 0, waiting: [] }) }
      }
      const eventOf = makeTeller(user?.roles, header('last-event-id'))
      return {
        status: 200,
        body: nothing,
        stream: (tell) =>
          followWaiting(organisation_id, (reading) => {
            const event = eventOf(reading)
            if (event) tell(event)
          }),
      }
    },
  )
