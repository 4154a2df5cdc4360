import { application } from '#domain/applications/application.ts'
import { consentAnswered, softOptIns } from '#domain/applications/consent.ts'
import type { ApplicationEvent } from '#domain/applications/events.ts'
import { presentationOfApplication } from '#domain/applications/record.ts'
import { idOf, type RecordedEvent } from '#domain/event.ts'
import type { Answered } from '../customers/consent.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import type { Catalogue } from '../catalogue/live-catalogue.ts'

type Saved = Pick<Extract<ApplicationEvent, { type: 'CustomerSaved' }>, 'consent_answers' | 'marketing_answers'>

type At = Pick<RecordedEvent, 'stream' | 'revision'>

/** The answers of applications' customers about being contacted, in the words of the presentation that they saw. */
export const makeApplicationConsent = (writer: Writer, catalogue: Pick<Catalogue, 'release'>) => {
  const { loadFrom } = commandHandler(writer, application)

  /**
   * With `saved`, what was answered then; in any case, what may be taken from boxes left alone. As of an event at least:
   * what comes after it is followed by itself, and what was said later is not replaced by what was said before.
   */
  return async ({ stream, revision }: At, saved?: Saved): Promise<readonly Answered[]> => {
    if (saved?.consent_answers === null && saved.marketing_answers === null) return []
    const state = await loadFrom(idOf(stream), revision)
    if (!state) return []
    const { organisation_id, product_id, release_id } = state.record
    const release = await catalogue.release(organisation_id, product_id, release_id)
    const presentation = release ? presentationOfApplication(release, state.record) : null
    return [...(saved ? consentAnswered(presentation, saved) : []), ...softOptIns(presentation, state)]
  }
}
