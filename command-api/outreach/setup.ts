import { z } from 'zod'
import { isSameJson } from '#domain/canonical-json.ts'
import { StreamChoices } from '#domain/outreach/events.ts'
import { isOpen, noSettings, streamsOf, type OutreachSettings, type OutreachStream } from '#domain/outreach/record.ts'
import { outreachSettings } from '#domain/outreach/settings.ts'
import { outreachStream, type OutreachCommand } from '#domain/outreach/stream.ts'
import { Rejection } from '#domain/rejection.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { keptWhereLeftOut } from '../setup-file/kept.ts'
import type { ReportUnknownNames } from '../setup-file/names.ts'
import {
  inOrderOf,
  reportRefusal,
  reportUnlessOne,
  type AnySetupSection,
  type SetupContext,
  type SetupSection,
  type SetupStep,
  type Whole,
} from '../setup-file/section.ts'
import { DeclaredOutreach, DeclaredStream, priceOf, withDefaults, writtenPrice } from './declared.ts'
import { outreachStreamIdOf } from './ids.ts'
import type { LiveOutreach } from './streams.ts'

const DeclaredInFile = DeclaredStream.extend({
  started: z.boolean().default(false).describe('true starts it: people can join. false leaves it as it is.'),
}).strict()
type DeclaredInFile = z.output<typeof DeclaredInFile>

type Deps = {
  readonly writer: Writer
  readonly outreach: Pick<LiveOutreach, 'streams'>
  readonly reportUnknownNames: ReportUnknownNames
}

/** Outreach as a whole, and its streams. */
export const outreachSections = (deps: Deps): readonly AnySetupSection[] => [
  settingsSection(deps.writer),
  streamsSection(deps),
]

const settingsSection = (writer: Writer): SetupSection<z.output<typeof DeclaredOutreach>> => {
  const { handle, preview, load } = commandHandler(writer, outreachSettings)
  return {
    key: 'outreach',
    schema: DeclaredOutreach,
    plan: async (items, setup) => {
      const { organisation_id, context } = setup
      reportUnlessOne(setup, items, 'outreach is declared once')
      const [declared] = items
      if (!declared) return []
      const { on: is_on, exchange_rates } = declared
      const writer_price = declared.writer_price && priceOf(declared.writer_price)
      const command = { type: 'ChangeSettings', organisation_id, is_on, writer_price, exchange_rates } as const
      const events = await preview(organisation_id, command)
      const isKnown = events.length === 0
      return [
        {
          what: 'outreach',
          change: isKnown ? 'none' : 'change',
          details: isKnown
            ? []
            : [is_on ? 'on' : 'off', ...exchange_rates.map(({ day, usd_rate }) => `${day}: ${usd_rate}`)],
          apply: async () => {
            await handle(organisation_id, command, context)
          },
        },
      ]
    },
    exported: async ({ organisation_id }) => {
      const settings = await load(organisation_id)
      return isSameJson(settings, noSettings) ? undefined : [writtenSettings(settings)]
    },
  }
}

const writtenSettings = ({ is_on, writer_price, exchange_rates }: OutreachSettings): WrittenSettings => ({
  on: is_on,
  writer_price: writtenPrice(writer_price),
  exchange_rates: [...exchange_rates],
})
type WrittenSettings = Whole<z.input<typeof DeclaredOutreach>>

const streamsSection = ({ writer, outreach, reportUnknownNames }: Deps): SetupSection<DeclaredInFile> => {
  const { handle, load, preview } = commandHandler(writer, outreachStream)

  const planOne = async (
    { slug, kind, started, ...chosen }: DeclaredInFile,
    written: unknown,
    { organisation_id, context, time_zone }: SetupContext,
  ): Promise<SetupStep> => {
    const stream_id = outreachStreamIdOf(organisation_id, slug)
    const { stream } = await load(stream_id)
    const choices = keptWhereLeftOut(withDefaults(kind, chosen), stream, written)
    if (stream && stream.kind !== kind)
      throw new Rejection('conflict', `${slug} is a ${stream.kind}: the kind of a stream is fixed.`)
    const moment = { now: context.now, time_zone }
    const command: OutreachCommand = stream
      ? { type: 'ChangeStream', choices, ...moment }
      : { type: 'CreateStream', stream_id, organisation_id, slug, kind, choices }
    const events = await preview(stream_id, command)
    const isStarted = started && !stream?.started_at
    return {
      what: `outreach stream ${slug}`,
      change: events.length === 0 && !isStarted ? 'none' : stream ? 'change' : 'create',
      details: [
        ...(events.length === 0 ? [] : [`${kind} by ${choices.channels.join(', ')}, for ${choices.purpose}`]),
        ...(isStarted ? ['is started'] : []),
      ],
      apply: async () => {
        await handle(stream_id, command, context)
        if (isStarted) await handle(stream_id, { type: 'SteerStream', act: 'start', ...moment }, context)
      },
    }
  }

  return {
    key: 'outreach_streams',
    schema: DeclaredInFile,
    plan: async (declared, setup) => {
      const plans = declared.map(async (each, index) => {
        await reportUnknownNames(setup, 'campaign', each.campaigns, [index, 'campaigns'])
        const earlier = declared.findIndex(({ slug }) => slug === each.slug)
        if (earlier === index)
          return reportRefusal(setup, [index], () => planOne(each, setup.declared('outreach_streams')[index], setup))
        setup.report([index, 'slug'], `is that of outreach_streams[${earlier}]`)
        return undefined
      })
      return (await Promise.all(plans)).filter((step) => step !== undefined)
    },
    exported: async ({ organisation_id }) =>
      inOrderOf(streamsOf(outreach.streams, organisation_id).map(writtenStream), ({ slug }) => slug),
  }
}

/** One that is paused or stopped is not started elsewhere. */
const writtenStream = (stream: OutreachStream): Whole<z.input<typeof DeclaredInFile>> => ({
  slug: stream.slug,
  kind: stream.kind,
  ...StreamChoices.parse(stream),
  started: isOpen(stream) && stream.paused_at === null,
})
