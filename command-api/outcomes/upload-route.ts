import { z } from 'zod'
import { currencyOf, type Directory } from '#domain/access/record.ts'
import { decimalsOf, exactMoney } from '#domain/money.ts'
import type { OutcomeModel } from '#domain/outcomes/events.ts'
import { plainWords, reasonsOf } from '#domain/reasons.ts'
import { Rejection } from '#domain/rejection.ts'
import { CurrencyCode, OrganisationId } from '#domain/values.ts'
import { Problem } from '#infra/http/problem.ts'
import { route, type Route } from '#infra/http/route.ts'
import type { Catalogue } from '../catalogue/live-catalogue.ts'
import { makeLocks } from '../writing/locks.ts'
import { teamContext, teamRoute } from '../operator.ts'
import { RowFault, UploadedRows, UploadName, type UploadedRow } from '../uploaded-rows.ts'
import { namingLeadAs, noAmount, OutcomeInput, readReference, readReport } from './inputs.ts'
import { matchLead } from './matching.ts'
import type { OutcomesDeps, Reporter } from './outcome-streams.ts'
import { makeOutcomes } from './outcomes.ts'
import { noLead } from './report.ts'

type Deps = OutcomesDeps & {
  readonly directory: Pick<Directory, 'organisations'>
  readonly catalogue: Pick<Catalogue, 'slugs'>
}

const Rows = z.object({
  upload: UploadName.describe(
    'Names the file: a row of it is recorded once, however often it is sent. A row may have its own event_id.',
  ),
  dry_run: z.boolean().default(false).describe('Only says which rows could not be recorded.'),
  rows: UploadedRows,
})

const Result = z.object({
  data: z.object({
    taken: z.int().describe('Rows that were recorded now; in a dry run, that would be.'),
    known: z.int().describe('Rows that were recorded before.'),
    held: z.int().describe('Rows that fit no lead, or several: somebody must say which lead they are about.'),
    faults: z.array(RowFault),
  }),
})

type Fields = Readonly<Record<string, string>>

const named = ['contact_id', 'type', 'occurred_at', 'event_id', 'deal_ref', 'product', 'reason', 'note', 'currency']
const ofLead = ['id', 'external_id', 'email', 'phone']

/** A row's values, by the names that the API has. Amounts of money are as people write them: pounds, yen. */
const inputOf = (fields: Fields, { measures }: Pick<OutcomeModel, 'measures'>, currency: string) => {
  const given = (name: string) => fields[name]?.trim() || undefined
  const lead = Object.fromEntries(ofLead.flatMap((name) => (given(name) ? [[name, given(name)] as const] : [])))
  const values = measures.flatMap(({ key, unit }) => {
    const text = given(key)
    return text === undefined ? [] : [[key, unit === 'money' ? penceOf(text, currency) : numberOf(text)] as const]
  })
  return {
    ...Object.fromEntries(named.map((name) => [name, given(name)] as const)),
    ...(Object.keys(lead).length > 0 && { lead: { ...lead, match_on_details: true } }),
    values: Object.fromEntries(values),
  }
}

/** The currency of the row, or the organisation's. */
const currencyIn = (fields: Fields, otherwise: string): string =>
  CurrencyCode.safeParse(fields['currency']?.trim().toUpperCase()).data ?? otherwise

/**
 * Exact, and never rounded: what is not whole pence is no amount. Nor is one with three decimals where the currency has not as
 * many: elsewhere the point stands between thousands.
 */
const penceOf = (text: string, currency: string): number | string => {
  const [, pounds, decimals = ''] = /^\p{Sc}?\s*(\d{1,12}|\d{1,3}(?:,\d{3})+)(?:\.(\d+))?$/u.exec(text) ?? []
  if (pounds === undefined || decimals.length > Math.max(2, decimalsOf(currency))) return text
  return exactMoney(`${pounds.replaceAll(',', '')}.${decimals}`, currency) ?? text
}

const numberOf = (text: string): number | string => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : text)

/** Records rows of a file of outcomes, as the source `upload`. */
export const uploadOutcomesRoute = (deps: Deps): Route => {
  const { directory, catalogue, models } = deps
  const outcomes = makeOutcomes(deps)

  return route(
    {
      ...teamRoute('leads'),
      method: 'post',
      address: '/admin/v1/organisations/:organisation_id/uploaded_outcomes',
      summary: 'Record rows of a file of outcomes; npm run leads -- import FILE --what outcomes sends a whole file',
      path: z.object({ organisation_id: OrganisationId }),
      body: Rows,
      answers: { 200: Result },
    },
    async ({ path: { organisation_id }, body: { upload, dry_run, rows }, ...facts }) => {
      const model = models(organisation_id)
      const reading = {
        model,
        slugs: catalogue.slugs(organisation_id),
        currency_code: currencyOf(directory.organisations, organisation_id),
        now: facts.now,
      }
      const reporter: Reporter = {
        organisation_id,
        api_application_id: null,
        source: 'upload',
        by: { type: 'user', name: null },
        sentBy: undefined,
      }
      const context = teamContext(organisation_id, facts)
      const counts = { taken: 0, known: 0, held: 0 }
      const faults: RowFault[] = []

      const fault = (line: number, reasons: Readonly<Record<string, string>>) => {
        for (const [field, reason] of Object.entries(reasons)) faults.push({ line, field, reason })
      }
      const unlessRefused = async (line: number, work: () => Promise<void>): Promise<void> => {
        try {
          await work()
        } catch (error) {
          if (!(error instanceof Problem || error instanceof Rejection)) throw error
          const [field = null] = Object.keys(error.fields ?? {})
          const reason = field === null ? error.message : (error.fields?.[field] ?? error.message)
          faults.push({ line, field: field && fieldOf(field.split('.')), reason })
        }
      }

      /** The report in a row, and the person, as far as that is found. */
      const read = async ({ line, fields }: UploadedRow) => {
        const currency = currencyIn(fields, reading.currency_code)
        const input = OutcomeInput.safeParse(inputOf(fields, model, currency), { error: plainWords })
        if (!input.success) {
          const isMoney = (path: readonly PropertyKey[]) =>
            path[0] === 'values' && model.measures.some(({ key, unit }) => key === path[1] && unit === 'money')
          const reasons = reasonsOf(input.error.issues).map(
            ({ path, reason }) => [fieldOf(path), isMoney(path) ? noAmount(currency) : reason] as const,
          )
          fault(line, Object.fromEntries(reasons))
          return []
        }
        const reported = readReport(input.data, reading)
        if ('fields' in reported) {
          const reasons = Object.entries(reported.fields).map(
            ([field, why]) => [fieldOf(field.split('.')), why] as const,
          )
          fault(line, Object.fromEntries(reasons))
          return []
        }
        const lead = readReference(input.data)
        const match = await matchLead(deps, organisation_id, lead, undefined)
        const event_id = input.data.event_id ?? `${upload}:${line}`
        const [leadColumn = 'lead'] = ['contact_id', ...ofLead].filter((name) => fields[name]?.trim())
        return [{ line, match, leadColumn, reporting: { ...reported, lead, event_id } }]
      }
      const readable: Awaited<ReturnType<typeof read>> = []
      const readOne = async (row: UploadedRow) =>
        unlessRefused(row.line, async () => {
          readable.push(...(await read(row)))
        })
      await Promise.all(rows.map(readOne))

      if (dry_run)
        for (const { line, match, leadColumn } of readable)
          if (match.held !== null && match.isUnknownId) fault(line, { [leadColumn]: noLead })
          else counts[match.held === null ? 'taken' : 'held']++
      else {
        const inTurn = makeLocks()
        readable.sort((one, other) => one.line - other.line)
        const ended = await Promise.allSettled(
          // Those of one lead in their order: what a row says may rest on the one before, as a cancellation does on its sale.
          readable.map(async ({ line, match, leadColumn, reporting }) =>
            inTurn([reporting.event_id, ...(match.contact_id === null ? [] : [match.contact_id])], async () =>
              unlessRefused(line, async () => {
                const reported = await namingLeadAs(leadColumn, async () =>
                  outcomes.report(reporter, reporting, context),
                )
                counts[reported.isReplay ? 'known' : 'held' in reported ? 'held' : 'taken']++
              }),
            ),
          ),
        )
        const failure = ended.find((outcome) => outcome.status === 'rejected')
        if (failure) throw failure.reason
      }
      faults.sort((one, other) => one.line - other.line)
      return { status: 200, body: { data: { ...counts, faults } } }
    },
  )
}

/** A field by the name of its column. */
const fieldOf = (path: readonly PropertyKey[]): string => String(path.at(-1) ?? 'row')
