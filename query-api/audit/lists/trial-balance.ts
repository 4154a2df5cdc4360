import { z } from 'zod'
import { TrialBalance } from '#domain/ledger/record.ts'
import { OrganisationId } from '#domain/values.ts'
import { auditRoute, route, type Answer, type Route } from '#infra/http/route.ts'
import type { Database } from '#infra/postgres/lookups.ts'
import { sql } from '#infra/postgres/postgres.ts'
import { format, wantsCsv } from '../../csv.ts'
import { untilFound } from '../as-of/until-found.ts'
import type { ListDeps } from './list.ts'
import { momentOf, momentParameters, momentShown, ShownMoment, type AskedMoment } from './moment.ts'

/** The ledger, which is a capability of its own. */
export type Ledger = {
  readonly trialBalanceAt: (
    pool: Database,
    organisation_id: OrganisationId,
    position: string | undefined,
  ) => Promise<TrialBalance[]>
  readonly trialBalanceFile: (data: readonly TrialBalance[]) => Pick<Answer, 'headers'> & {
    readonly status: 200
    readonly body: Uint8Array
  }
}

/** The last event of an organisation that was recorded by then. */
const positionAt = async (
  pool: Database,
  organisation_id: OrganisationId,
  { known_at, position }: AskedMoment,
): Promise<string | undefined> => {
  if (known_at === undefined) return position
  const { rows } = await pool.query<{ position: string }>(sql`
    select position from recorded_events where organisation_id = ${organisation_id} and recorded_at <= ${known_at}
    order by recorded_at desc, position desc limit 1`)
  return rows[0]?.position
}

/** The trial balance as it stood at a moment. Entries are never changed: it is that of those which were posted by then. */
export const trialBalanceRoute = (
  { pool, eventLog, inTurn }: ListDeps,
  { trialBalanceAt, trialBalanceFile }: Ledger,
): Route =>
  route(
    {
      tag: auditRoute.tag,
      access: { ...auditRoute.access, showsPersonalData: false },
      method: 'get',
      address: '/audit/v1/organisations/:organisation_id/lists/trial_balance',
      summary: 'Show that debits and credits were equal at a moment: the balance of each account as it was known then',
      path: z.object({ organisation_id: OrganisationId }),
      query: z.object({ ...momentParameters, format }),
      example: { query: {} },
      alsoAs: 'text/csv',
      answers: {
        200: z.object({
          data: z.array(TrialBalance),
          balanced: z.boolean(),
          total: z.int().describe('The currencies, each apart for the payment provider’s test account.'),
          ...ShownMoment.shape,
        }),
      },
      errors: ['invalid_parameter'],
    },
    async ({ path: { organisation_id }, query, header }) => {
      const moment = await momentOf(eventLog, query)
      const data = await inTurn(organisation_id, async () => {
        await untilFound({ db: pool, eventLog }, moment)
        await untilFound({ db: pool, eventLog }, moment, 'ledger')
        return trialBalanceAt(pool, organisation_id, await positionAt(pool, organisation_id, moment))
      })
      if (wantsCsv(query.format, { header })) return trialBalanceFile(data)
      const balanced = data.every((each) => each.balanced)
      return { status: 200, body: { data, balanced, total: data.length, ...momentShown(moment) } }
    },
  )
