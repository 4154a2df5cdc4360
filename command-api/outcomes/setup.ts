import { z } from 'zod'
import { outcomeModel } from '#domain/outcomes/model.ts'
import {
  Measure,
  OutcomeEffect,
  OutcomeProduct,
  OutcomeType,
  type Formula,
  type OutcomeModel,
} from '#domain/outcomes/events.ts'
import { seededModel } from '#domain/outcomes/record.ts'
import { Key, type Pipeline } from '#domain/pipeline/events.ts'
import { seededPipeline } from '#domain/pipeline/record.ts'
import type { OrganisationId } from '#domain/values.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { eachKeptWhereLeftOut, unlessSeeded } from '../setup-file/kept.ts'
import type { AnySetupSection, SetupContext, SetupSection, Whole } from '../setup-file/section.ts'

/** A key of a value, or a number that is always the same. */
const Operand = z.union([Key, z.number().min(0)])

const DeclaredFormula = z
  .strictObject({
    sum: z.array(Operand).min(1).optional(),
    product: z.array(Operand).min(1).optional(),
    quotient: z.array(Operand).min(2).optional(),
  })
  .refine((formula) => Object.keys(formula).length === 1, 'must be one of sum, product and quotient')

const DeclaredType = z.strictObject({
  key: Key,
  label: OutcomeType.shape.label,
  repeatable: z.boolean().default(true),
  product: OutcomeType.shape.product.default('none'),
  values: z
    .array(z.strictObject({ key: Key, required: z.boolean().default(false), formula: DeclaredFormula.optional() }))
    .default([]),
  effect: OutcomeEffect.default('none'),
  stage: Key.nullable().default(null),
})
type DeclaredType = z.output<typeof DeclaredType>

const DeclaredProduct = z.strictObject({
  key: Key,
  name: OutcomeProduct.shape.name,
  aliases: OutcomeProduct.shape.aliases.default([]),
})

const isAliasOf = ({ aliases }: z.output<typeof DeclaredProduct>, code: string): boolean =>
  aliases.some((alias) => alias.toLowerCase() === code.toLowerCase())

const formulaOf = (declared: z.output<typeof DeclaredFormula>): Formula | null => {
  const [operation, of] = Object.entries(declared)[0] ?? []
  if (!of) return null
  return {
    operation: operation as Formula['operation'], // the schema has no other keys
    of: of.map((operand) => (typeof operand === 'number' ? { constant: String(operand) } : { value: operand })),
  }
}

const typeOf = ({ values, ...declared }: DeclaredType): OutcomeType => ({
  ...declared,
  values: values.map(({ key, required, formula }) => ({ key, required, formula: formula ? formulaOf(formula) : null })),
})

const writtenType = ({ values, ...type }: OutcomeType): Whole<z.input<typeof DeclaredType>> => ({
  ...type,
  values: values.map(({ key, required, formula }) => ({
    key,
    required,
    formula: formula ? { [formula.operation]: formula.of.map(writtenOperand) } : undefined,
  })),
})

const writtenOperand = (operand: Formula['of'][number]): z.input<typeof Operand> =>
  'value' in operand ? operand.value : Number(operand.constant)

const keysOf = (declared: readonly unknown[]): readonly string[] =>
  declared.flatMap((each) => z.object({ key: z.string() }).safeParse(each).data?.key ?? [])

type Part<Item> = {
  readonly key: string
  readonly schema: z.ZodType<Item>
  readonly before: (model: OutcomeModel) => readonly Item[]
  readonly declared: (items: Item[]) => Partial<OutcomeModel>
  readonly check?: (items: readonly Item[], setup: SetupContext, model: OutcomeModel) => Promise<void>
  /** An item as a file declares it. */
  readonly written?: (item: Item) => object
}

const partSection = <Item extends { readonly key: string }>(
  writer: Writer,
  { key, schema, before: itemsOf, declared, check, written = (item) => item }: Part<Item>,
): SetupSection<Item> => {
  const { handle, preview, load } = commandHandler(writer, outcomeModel)
  return {
    key,
    schema,
    plan: async (given, setup) => {
      const { organisation_id, context, report } = setup
      const before = await load(organisation_id)
      const model = before ?? seededModel
      const known = unlessSeeded(itemsOf(model), itemsOf(seededModel))
      const items = eachKeptWhereLeftOut(given, known, setup.declared(key), (item) => item.key)
      for (const [index, item] of items.entries()) {
        const earlier = items.findIndex((other) => other.key === item.key)
        if (earlier !== index) report([index, 'key'], `is that of ${key}[${earlier}]`)
      }
      await check?.(items, setup, model)
      const command = { type: 'DeclareOutcomeModel', organisation_id, declared: declared(items) } as const
      const events = await preview(organisation_id, command)
      const change = events.length === 0 ? 'none' : before ? 'change' : 'create'
      return [
        {
          what: key.replaceAll('_', ' '),
          change,
          details: change === 'none' ? [] : items.length === 0 ? ['none'] : items.map((item) => item.key),
          apply: async () => {
            await handle(organisation_id, command, context)
          },
        },
      ]
    },
    exported: async ({ organisation_id }) => {
      const model = await load(organisation_id)
      return model && itemsOf(model).map(written)
    },
  }
}

/** The outcomes that leads can have: one list for each part, which replaces it as a whole. */
export const outcomeModelSections = (
  writer: Writer,
  pipelineOf: (organisation_id: OrganisationId) => Promise<Pipeline | undefined>,
): readonly AnySetupSection[] => [
  partSection(writer, {
    key: 'outcome_measures',
    schema: Measure.strict(),
    before: ({ measures }) => measures,
    declared: (measures) => ({ measures }),
    check: async (measures, { report, declared }, { types }) => {
      if (measures.length === 0) report([], 'must have at least 1 item')
      if (declared('outcome_types').length > 0) return
      for (const { key: type, values } of types)
        for (const { key } of values)
          if (!measures.some((measure) => measure.key === key)) report([], `must keep ${key}, a value of ${type}`)
    },
  }),
  partSection(writer, {
    key: 'outcome_products',
    schema: DeclaredProduct,
    before: ({ products }) => products,
    declared: (products) => ({ products }),
    check: async (products, { report }) => {
      for (const [index, { key, aliases }] of products.entries()) {
        const before = products.slice(0, index)
        const ofKey = before.find((other) => isAliasOf(other, key))
        if (ofKey) report([index, 'key'], `is already an alias of ${ofKey.key}`)
        for (const [at, alias] of aliases.entries()) {
          const other = before.find((each) => each.key === alias.toLowerCase() || isAliasOf(each, alias))
          if (other) report([index, 'aliases', at], `is already a code of ${other.key}`)
        }
      }
    },
  }),
  partSection(writer, {
    key: 'outcome_types',
    schema: DeclaredType.transform(typeOf),
    written: writtenType,
    before: ({ types }) => types,
    declared: (types) => ({ types }),
    check: async (types, { organisation_id, report, declared }, model) => {
      if (types.length === 0) report([], 'must have at least 1 item')
      const inFile = keysOf(declared('outcome_measures'))
      const measures = inFile.length > 0 ? inFile : model.measures.map(({ key }) => key)
      const stagesInFile = keysOf(declared('stages'))
      const { stages: stagesBefore } = (await pipelineOf(organisation_id)) ?? seededPipeline
      const stages = stagesInFile.length > 0 ? stagesInFile : stagesBefore.map(({ key }) => key)
      for (const [index, { values, effect, stage }] of types.entries()) {
        for (const [at, { key, formula }] of values.entries()) {
          if (!measures.includes(key)) report([index, 'values', at, 'key'], `there is no measure ${key}`)
          for (const operand of formula?.of ?? [])
            if ('value' in operand && !values.slice(0, at).some((value) => value.key === operand.value))
              report(
                [index, 'values', at, 'formula'],
                `${operand.value} is no value of this type that stands before ${key}`,
              )
        }
        if (effect === 'stage' && stage === null) report([index, 'stage'], 'is needed with effect stage')
        if (stage !== null && !stages.includes(stage)) report([index, 'stage'], `there is no stage ${stage}`)
      }
    },
  }),
]
