import type { OrganisationId } from '#domain/values.ts'
import { isWorking, noSettings } from '#domain/outreach/record.ts'
import { openAiCompatible } from '#infra/lead-reader/openai-compatible.ts'
import { makeOutbox } from '#infra/message-channels/outbox.ts'
import { makeSmtp } from '#infra/message-channels/smtp.ts'
import type { CommandSide } from '../command-side.ts'
import { makeChannels } from './channels.ts'
import { runOutreach, type RunningOutreach } from './dispatch.ts'
import { deterministicWriter, modelWriter, type DraftWriter } from './draft-writer.ts'
import { makeLinks } from './links.ts'
import type { OutreachPeople } from './people.ts'
import { makeQueue } from './queue.ts'
import { makeStreams } from './streams.ts'
import { makeWork } from './work.ts'

/** Drafts and sends what streams have to do. */
export const startOutreach = (side: CommandSide, people: OutreachPeople): RunningOutreach => {
  const { config, outreach: live, keys, openAccount, models, outside, pool, writer } = side
  const queue = makeQueue(pool)
  const ask = openAiCompatible(models)
  const writerFor = (organisation_id: OrganisationId): DraftWriter => {
    const account = openAccount(organisation_id, 'outreach_writer')
    const settings = live.settings.get(organisation_id) ?? noSettings
    return account ? modelWriter(ask, account, settings) : deterministicWriter
  }
  const outbox = config.ENVIRONMENT === 'production' ? undefined : makeOutbox(side)
  const sendMail = makeSmtp({ allowedHosts: config.DELIVERY_ALLOWED_HOSTS, allowHttp: config.DELIVERY_ALLOW_HTTP })
  const work = makeWork({
    ...side,
    live,
    queue,
    writerFor,
    streams: makeStreams(writer),
    people,
    send: makeChannels({ openAccount, http: outside, sendMail, outbox }),
    linksOf: makeLinks({ keys, baseUrl: config.BASE_URL }),
  })
  /** As far as this process knows; of one that it does not know yet, more is known when it is read. */
  const canWork = (stream_id: string): boolean => {
    const stream = live.streams.get(stream_id)
    if (!stream) return true
    const isOn = live.settings.get(stream.organisation_id)?.is_on === true
    return isOn && (isWorking(stream) || stream.timing > stream.timing_moved)
  }
  return runOutreach({ ...side, queue, work, canWork })
}
