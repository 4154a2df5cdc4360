import { currencyOf, timeZoneOf, type Organisation } from '#domain/access/record.ts'
import { sentFields } from '#domain/ingests/fields.ts'
import type { IngestState } from '#domain/ingests/ingest.ts'
import { dateIn } from '#domain/time-zone.ts'
import type { CustomerId } from '#domain/values.ts'
import type { Requirements } from './requirements.ts'
import type { Context } from '../writing/handle.ts'
import type { Pipelines } from '../pipeline/live-pipelines.ts'
import { makeApply, type ApplyDeps } from './apply.ts'
import type { Reading, ReadingMaterial } from './reader.ts'

export type ReadIngestDeps = ApplyDeps & {
  readonly pipelines: Pipelines
  readonly organisations: ReadonlyMap<string, Pick<Organisation, 'time_zone' | 'currency_code'>>
}

/** Under this name it is recorded what was read, in whichever step. */
export const whatReads = 'when-ingest-resolved-read-it'

const longestWords = 2_000

type Found = Extract<Reading, { readonly outcome: 'read' }>

/** Reads what was sent, of somebody who is known. */
export const makeReadIngest = (deps: ReadIngestDeps) => {
  const { pipelines, organisations } = deps
  const apply = makeApply(deps)

  const materialOf = (
    { record, content }: IngestState,
    { campaign }: Pick<Requirements, 'campaign'>,
    { now }: Context,
  ): ReadingMaterial => {
    const { organisation_id } = record
    const time_zone = timeZoneOf(organisations, organisation_id)
    return {
      organisation_id,
      content,
      fields: sentFields(content, campaign?.field_names ?? {}),
      wanted: pipelines(organisation_id).custom_fields,
      currency: currencyOf(organisations, organisation_id),
      today: dateIn(time_zone, now),
      time_zone,
    }
  }

  const write = async (state: IngestState, contact_id: CustomerId, found: Found, context: Context) => {
    const { details, facts, truncated, refused } = found
    const { text } = state.content
    const extracted = {
      contact_id,
      details,
      // An email address or phone that is only mentioned does not make anybody known by it.
      contested: ['email'] as const,
      facts,
      consent: null,
      arrives: undefined,
      words: text === null ? null : text.trim().slice(0, longestWords),
    }
    const { is_new_lead: _, ...written } = await apply(state, extracted, context)
    return { ...written, truncated, ...(refused.length > 0 && { refused: [...refused] }) }
  }

  return { materialOf, write }
}
