import type { Directory } from '#domain/access/record.ts'
import { inboundEventEvents } from '#domain/custom-integrations/events.ts'
import { idOf } from '#domain/event.ts'
import type { Catalogue } from '../catalogue/live-catalogue.ts'
import type { Reaction } from '../reactions/reaction.ts'
import type { OutcomesDeps } from './outcome-streams.ts'
import { makeOutcomes } from './outcomes.ts'
import { readReceived } from './read-received.ts'

const { InboundEventAccepted } = inboundEventEvents

type Deps = OutcomesDeps & {
  readonly directory: Pick<Directory, 'organisations'>
  readonly catalogue: Pick<Catalogue, 'slugs'>
}

/** An outcome that another system posts is reported under the id of its event: recorded, or held with the reason. */
export const whenInboundEventAcceptedReportOutcome = (
  deps: Deps,
): Reaction<{ InboundEventAccepted: typeof InboundEventAccepted }> => {
  const { models, directory, catalogue } = deps
  const outcomes = makeOutcomes(deps)
  return {
    name: 'when-inbound-event-accepted-report-outcome',
    categories: ['inbound_event'],
    events: { InboundEventAccepted },
    target: (_event, { stream }) => `outcome_report-${idOf(stream)}`,
    react: async ({ organisation_id, outcome: sent, event_id }, { stream }, context) => {
      const organisation = directory.organisations.get(organisation_id)
      if (!sent) return
      if (!organisation) throw new Error(`Organisation ${organisation_id} is not known here.`)
      const read = readReceived(sent, {
        model: models(organisation_id),
        slugs: catalogue.slugs(organisation_id),
        currency_code: organisation.currency_code,
        now: context.now,
      })
      await outcomes.receive({ organisation_id, outcome_id: idOf(stream), event_id, sent }, read, context)
    },
  }
}
