import type { z } from 'zod'
import { programmesOf, type Programme } from '#domain/loyalty/record.ts'
import { programme, type ProgrammeCommand } from '#domain/loyalty/programme.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import type { ReportUnknownNames } from '../setup-file/names.ts'
import { eachKeptWhereLeftOut, keptWhereLeftOut, writtenAt } from '../setup-file/kept.ts'
import {
  inOrderOf,
  reportRefusal,
  type SetupContext,
  type SetupSection,
  type SetupStep,
  type Whole,
} from '../setup-file/section.ts'
import { DeclaredProgramme } from './declared.ts'
import { programmeIdOf } from './ids.ts'

type Deps = {
  readonly writer: Writer
  readonly programmes: ReadonlyMap<string, Programme>
  readonly reportUnknownNames: ReportUnknownNames
}

/** Loyalty programmes, with their tiers and cycles. */
export const loyaltyProgrammesSection = ({
  writer,
  programmes,
  reportUnknownNames,
}: Deps): SetupSection<DeclaredProgramme> => {
  const { handle, load, preview } = commandHandler(writer, programme)

  const planOne = async (
    { slug, ...declared }: DeclaredProgramme,
    written: unknown,
    { organisation_id, context }: SetupContext,
  ): Promise<SetupStep> => {
    const programme_id = programmeIdOf(organisation_id, slug)
    const existing = await load(programme_id)
    const tiers = eachKeptWhereLeftOut(declared.tiers, existing?.tiers, writtenAt(written, 'tiers'), ({ key }) => key)
    const choices = keptWhereLeftOut({ ...declared, tiers }, existing, written)
    const command: ProgrammeCommand = existing
      ? { type: 'ChangeProgramme', choices }
      : { type: 'CreateProgramme', programme_id, organisation_id, slug, choices }
    const events = await preview(programme_id, command)
    const { months, starts } = choices.cycle
    return {
      what: `loyalty programme ${slug}`,
      change: events.length === 0 ? 'none' : existing ? 'change' : 'create',
      details:
        events.length === 0
          ? []
          : [
              `cycles of ${months} months from ${starts === 'confirmation' ? 'the confirmation' : starts} on`,
              ...choices.tiers.map(({ key, threshold }) => `tier ${key}${threshold === null ? '' : ` (${threshold})`}`),
              ...choices.products.map((product) => `policies of ${product} make a member`),
            ],
      apply: async () => {
        await handle(programme_id, command, context)
      },
    }
  }

  return {
    key: 'loyalty_programmes',
    schema: DeclaredProgramme.strict(),
    plan: async (declared, setup) => {
      const plans = declared.map(async (each, index) => {
        await reportUnknownNames(setup, 'product', each.products, [index, 'products'])
        const earlier = declared.findIndex(({ slug }) => slug === each.slug)
        if (earlier === index)
          return reportRefusal(setup, [index], () => planOne(each, setup.declared('loyalty_programmes')[index], setup))
        setup.report([index, 'slug'], `is that of loyalty_programmes[${earlier}]`)
        return undefined
      })
      return (await Promise.all(plans)).filter((step) => step !== undefined)
    },
    exported: async ({ organisation_id }) =>
      inOrderOf(programmesOf(programmes, organisation_id).map(writtenAs), ({ slug }) => slug),
  }
}

const writtenAs = ({ slug, name, tiers, cycle, products }: Programme): Whole<z.input<typeof DeclaredProgramme>> => ({
  slug,
  name,
  tiers,
  cycle,
  products,
})
