import type { Capability } from '../capability.ts'
import { outreachPerson } from '#domain/outreach/person.ts'
import { providerAccountsFold } from '#domain/provider-accounts/record.ts'
import { commandHandler } from '../writing/handle.ts'
import { makeMessageNews } from './receive.ts'
import { messageNewsWebhook } from './webhook.ts'

export const messageNews: Capability = {
  ownForms: (side) => [
    messageNewsWebhook({
      ...side,
      limits: side.inboundLimits('message_news'),
      requireCurrent: (organisation_id) => side.folds.requireCurrent(providerAccountsFold.name, organisation_id),
      receive: makeMessageNews({
        ...side,
        digest: side.dataKeys.digest,
        outreachOf: commandHandler(side.writer, outreachPerson).load,
        streams: side.outreach.streams,
      }),
    }),
  ],
}
