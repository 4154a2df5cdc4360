import type { OneLeadCommand } from '#domain/leads/commands.ts'
import type { TpsStatus } from '#domain/leads/events.ts'
import type { OpenAccount } from '#domain/provider-accounts/record.ts'
import { CustomerId, OrganisationId } from '#domain/values.ts'
import type { OpenedAccount } from '#infra/ask-json.ts'
import type { Clock } from '#infra/clock.ts'
import { batched } from '#infra/batched.ts'
import type { Log } from '#infra/log.ts'
import type { Context } from '../writing/handle.ts'
import type { Leads } from './live-leads.ts'
import type { DueTime, Timer } from '../reactions/timers.ts'

/** The lists of those who want no calls: which of these numbers are on them. Undefined: it cannot be said at the moment. */
export type ScreenNumbers = (
  account: OpenedAccount,
  numbers: readonly string[],
) => Promise<readonly { readonly number: string; readonly tps: boolean; readonly ctps: boolean }[] | undefined>

export type ScreenDeps = {
  readonly leads: Leads
  readonly openAccount: OpenAccount
  readonly screen: ScreenNumbers
  readonly phoneOf: (organisation_id: OrganisationId, contact_id: CustomerId) => Promise<string | null>
  readonly clock: Pick<Clock, 'now'>
  readonly log: Pick<Log, 'warn'>
}

/** Leads under way at once: for all organisations together, and for each. */
const most = { all: 2_000, each: 400 }
const numbersAtOnce = { mostAtOnce: 200, mostWaiting: 2 * most.each, mostInFlight: 2 }

/** A number that goes onto a list must not be called 28 days later. */
const validMs = 28 * 24 * 60 * 60_000

const minute = 60_000
/** After a try in vain it is tried again so much later; the last holds from then on. */
const retryAfterMs = [minute, 5 * minute, 30 * minute, 120 * minute, 360 * minute]
const lastRetryMs = 360 * minute

const later = (instant: string, byMs: number): string => new Date(Date.parse(instant) + byMs).toISOString()

/** Only numbers of the United Kingdom are on its lists. */
const isOfUk = (phone_number: string | null): phone_number is string => phone_number?.startsWith('+44') ?? false

/**
 * Screens the numbers of leads when that is due. Many numbers of an organisation share a request; nothing waits for a
 * slow provider. What could not be screened is due again later, for as long as it takes.
 */
export const screenNumbers = ({ leads, openAccount, screen, phoneOf, clock, log }: ScreenDeps): Timer => {
  const underWay = new Map<string, string>()
  const askers = new Map<string, (number: string) => Promise<TpsStatus | undefined>>()

  const askerFor = (organisation_id: OrganisationId) => {
    const known = askers.get(organisation_id)
    if (known) return known
    const ask = async (numbers: readonly string[]): Promise<readonly (TpsStatus | undefined)[]> => {
      const account = openAccount(organisation_id, 'tpsclear')
      const results = account && (await screen(account, [...new Set(numbers)]))
      const found = new Map(results?.map(({ number, tps, ctps }) => [number, tps || ctps]))
      return numbers.map((number) => {
        const isListed = found.get(number)
        return isListed === undefined ? undefined : isListed ? 'registered' : 'clear'
      })
    }
    const asker = batched(ask, numbersAtOnce)
    askers.set(organisation_id, asker)
    return asker
  }

  const statusOf = (organisation_id: OrganisationId, phone_number: string | null) =>
    isOfUk(phone_number) ? askerFor(organisation_id)(phone_number) : Promise.resolve('not_applicable' as const)

  const step = async ({ id, organisation_id: organisation }: DueTime, context: Context): Promise<void> => {
    const organisation_id = OrganisationId.parse(organisation)
    const contact_id = CustomerId.parse(id)
    const planned = (await leads.find(organisation_id, contact_id))?.record.tps_planned
    const now = clock.now().toISOString()
    if (!planned || planned.due_at > now) return
    const act = async (command: OneLeadCommand) =>
      leads.handle({ contact_id, acts: [command], by: { type: 'system', name: null } }, { ...context, now })
    const planned_at = planned.due_at

    if (!openAccount(organisation_id, 'tpsclear')) {
      await act({ type: 'DeferTps', planned_at, retry_at: null, trouble: null })
      return
    }
    const phone_number = await phoneOf(organisation_id, contact_id)
    const status = await statusOf(organisation_id, phone_number)
    await act(
      status === undefined
        ? {
            type: 'DeferTps',
            planned_at,
            retry_at: later(now, retryAfterMs[planned.failed_tries] ?? lastRetryMs),
            trouble: 'no_answer',
          }
        : { type: 'RecordTps', planned_at, status, phone_number, screened_at: now, expires_at: later(now, validMs) },
    )
  }

  return {
    kind: 'lead_tps',
    fire: async (due, context) => {
      const own = [...underWay.values()].filter((organisation_id) => organisation_id === due.organisation_id)
      if (underWay.has(due.id) || underWay.size >= most.all || own.length >= most.each) return
      underWay.set(due.id, due.organisation_id)
      void step(due, context)
        .catch((error: unknown) => log.warn({ error, contact_id: due.id }, 'a number could not be screened'))
        .finally(() => {
          underWay.delete(due.id)
          if (![...underWay.values()].includes(due.organisation_id)) askers.delete(due.organisation_id)
        })
    },
  }
}
