import { application } from '#domain/applications/application.ts'
import { consentAnswered, softOptIns } from '#domain/applications/consent.ts'
import type { ApplicationEvent } from '#domain/applications/events.ts'
import { presentationOfApplication } from '#domain/applications/record.ts'
import type { ApplicationId } from '#domain/values.ts'
import type { Answered } from './customers/consent.ts'
import { commandHandler, type Writer } from './handle.ts'
import type { Catalogue } from './live-catalogue.ts'

type Saved = Pick<Extract<ApplicationEvent, { type: 'CustomerSaved' }>, 'consent_answers' | 'marketing_answers'>

/** What the customers of applications say about being contacted, as the presentation that they saw puts it. */
export const makeApplicationConsent = (writer: Writer, catalogue: Pick<Catalogue, 'release'>) => {
  const { load } = commandHandler(writer, application)

  /** With `saved`, what was answered then; in any case, what may be taken from boxes left alone. */
  return async (id: ApplicationId, saved?: Saved): Promise<readonly Answered[]> => {
    const state = await load(id)
    if (!state || (saved?.consent_answers === null && saved.marketing_answers === null)) return []
    const { organisation_id, product_id, release_id } = state.record
    const release = await catalogue.release(organisation_id, product_id, release_id)
    const presentation = release ? presentationOfApplication(release, state.record) : null
    return [...(saved ? consentAnswered(presentation, saved) : []), ...softOptIns(presentation, state)]
  }
}
