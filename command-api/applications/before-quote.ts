import { application } from '#domain/applications/application.ts'
import { applicationStreamEvents } from '#domain/applications/record.ts'
import type { ApplicationState } from '#domain/applications/state.ts'
import { fromStored } from '#domain/event.ts'
import type { ApplicationId, QuoteId } from '#domain/values.ts'
import type { Writer } from '../writing/writer.ts'

const pageSize = 1000

/** The application as it was just before a quote was issued, and what was issued. */
export const makeBeforeQuote = (log: Pick<Writer['log'], 'read'>) => async (id: ApplicationId, quote_id: QuoteId) => {
  let state: ApplicationState | undefined
  let isErased = false
  for (let from = 0; ; from += pageSize) {
    const page = await log.read(`application-${id}`, { from, limit: pageSize })
    for (const recorded of page) {
      // What it held then can be read no more: a person of it was erased.
      isErased ||= recorded.erased === true
      const event = fromStored(applicationStreamEvents, recorded)
      if (event.type === 'QuoteIssued' && event.quote_id === quote_id)
        return state && { state, issued: event, isErased }
      state = application.evolve(state, event, recorded.metadata)
    }
    if (page.length < pageSize) return undefined
  }
}
