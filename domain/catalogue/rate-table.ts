import { canonicalJson } from '../canonical-json.ts'
import type { Decider } from '../decider.ts'
import { Rejection } from '../rejection.ts'

import type { OrganisationId } from '../values.ts'
import { RateTable, rateTableEvents, type RateTableEvent } from '../rating/events.ts'

export type RateTableCommand = {
  readonly type: 'PublishRateTable'
  readonly organisation_id: OrganisationId
  readonly table: RateTable
}

/** A published version stays as it is: a price that was made from it can always be worked out again. */
const decide = ({ organisation_id, table }: RateTableCommand, published: RateTable | undefined) => {
  if (!published) return [{ type: 'RateTablePublished', organisation_id, table } satisfies RateTableEvent]
  if (canonicalJson(published) === canonicalJson(table)) return []
  throw new Rejection(
    'conflict',
    `Version ${table.version} of ${table.key} is published with other content. Publish a new version.`,
  )
}

export const rateTable: Decider<RateTableCommand, typeof rateTableEvents, RateTable | undefined> = {
  category: 'rate_table',
  events: rateTableEvents,
  initialState: undefined,
  decide,
  evolve: (_published, { table }) => table,
}
