import { vi } from 'vitest'
import { z } from 'zod'
import type { Random } from '../../journeys/random.ts'
import type { Answer, wholeService } from '../../whole-service.ts'
import { memberOf } from '../../users/team.ts'
import { randomFirm } from './firm.ts'

type Service = Awaited<ReturnType<typeof wholeService>>
export type Data = Readonly<Record<string, unknown>>

/** The kinds of records that acts make or change. */
export type Kind =
  | 'application'
  | 'quote'
  | 'policy'
  | 'claim'
  | 'premium'
  | 'payment'
  | 'person'
  | 'ingest'
  | 'outcome'
  | 'complaint'
  | 'member'
  | 'stream'
  | 'message'
  | 'integration'
  | 'connection'
  | 'erased'

/** A record, with the ids that its addresses need beside its own. */
export type Known = { readonly kind: Kind; readonly id: string; readonly of?: string }

/** Refused as a state or a rule asks for; an act of a random run may come at any moment. */
const isRefusal = (status: number): boolean => [404, 409, 422].includes(status)

/** On a busy machine the service may say that it cannot answer now: whoever is told so asks again. */
export const insist = async (ask: () => Promise<Answer>): Promise<Answer> =>
  vi.waitUntil(
    async () => {
      const answer = await ask()
      return answer.status === 503 ? undefined : answer
    },
    { timeout: 60_000, interval: 500 },
  )

/** A firm in which things happen at random, and what of it is known so far. */
export const openWorld = async (service: Service, provider: string, random: Random) => {
  await service.setUp(randomFirm(provider))
  const organisations = z.array(z.object({ id: z.string() }))
  const { body } = await service.send('GET', '/admin/v1/organisations')
  const organisation_id = organisations.parse(body.data)[0]?.id ?? ''
  const { token } = await service.client(organisation_id, ['read', 'write', 'crm', 'outcomes'])
  const auditor = (await memberOf(service, organisation_id, ['auditor'], { sees_personal_data: true })).key
  const known = new Map<string, Known>()
  const touched = new Map<string, Known>()
  let acts = 0
  let refused = 0
  let made = 0

  const send = async (method: string, path: string, sent?: object | string): Promise<Data | undefined> => {
    const isTeams = path.startsWith('/admin/')
    const answer = await insist(async () => service.send(method, path, { body: sent, ...(!isTeams && { token }) }))
    if (isRefusal(answer.status)) {
      refused++
      return undefined
    }
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    if (method !== 'GET') acts++
    return answer.body.data as Data
  }

  return {
    service,
    provider,
    organisation_id,
    admin: `/admin/v1/organisations/${organisation_id}`,
    auditor,
    token,
    random,
    send,
    acts: () => acts,
    refused: () => refused,
    known,
    /** A number that no other has. */
    next: (): number => ++made,
    chance: (part: number): boolean => random() < part,
    one: <Item>(...items: readonly [Item, ...Item[]]): Item => items[Math.floor(random() * items.length)] ?? items[0],
    /** A record of a kind, those that were touched last before others. */
    some: (kind: Kind): Known | undefined => {
      const all = [...known.values()].filter((each) => each.kind === kind)
      const recent = all.slice(-12)
      const from = random() < 0.7 ? recent : all
      return from[Math.floor(random() * from.length)]
    },
    touch: (kind: Kind, id: unknown, of?: string): Known | undefined => {
      if (typeof id !== 'string') return undefined
      const record = { kind, id, ...(of !== undefined && { of }) }
      known.set(`${kind} ${id}`, record)
      touched.set(`${kind} ${id}`, record)
      return record
    },
    /** What was touched since this was asked last. */
    takeTouched: (): readonly Known[] => {
      const taken = [...touched.values()]
      touched.clear()
      return taken
    },
  }
}
export type World = Awaited<ReturnType<typeof openWorld>>
