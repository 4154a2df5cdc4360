import type { Properties } from 'hast'
import { h, type View } from './view.ts'
import { v7 as uuidv7 } from 'uuid'
import { label as labelled, type Choice } from './show.ts'

/**
 * A field of an act. `name` is the place of the value in the body: `acts.0.stage`. A field that is left empty is not sent, or is
 * sent as null where `isNullable`.
 */
export type Field = {
  readonly name: string
  readonly label: string
  readonly hint?: string
  readonly isRequired?: true
  readonly isNullable?: true
} & (
  | {
      readonly kind: 'text' | 'lines' | 'date' | 'instant' | 'pounds' | 'number' | 'whole number'
      readonly value?: string
      /** Values that are offered for a text, beside which any other may be typed. */
      readonly suggests?: readonly Choice[]
    }
  | { readonly kind: 'choice'; readonly choices: readonly Choice[]; readonly value?: string | undefined }
  | { readonly kind: 'yes or no'; readonly value?: boolean }
  | { readonly kind: 'yes, no or nothing'; readonly value?: boolean | undefined }
  | { readonly kind: 'several'; readonly choices: readonly Choice[]; readonly values?: readonly string[] }
)

export type Act = {
  readonly title: string
  /** The part of the record that it is about, where a page has the same act of several. */
  readonly of?: string
  readonly method: 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  /** Of the API. */
  readonly address: string
  /** Held by the body besides the fields, by place. */
  readonly sends?: Readonly<Record<string, string | number | boolean | null>>
  /** Places that get an id of the page's making, so that the same act is done once, however often it is sent. */
  readonly ids?: readonly string[]
  readonly fields?: readonly Field[]
  /** True where fields that stay as they were shown are not sent: a colleague may have changed them meanwhile. */
  readonly sendsChanges?: true
  /** True where the API takes an `Idempotency-Key`: the page makes it. */
  readonly isKeyed?: true
  /** True where the API counts what it would concern, with `dry_run`: said before it is asked. */
  readonly isCounted?: true
  /** Said, and asked, before it is done: where money or a person is concerned. */
  readonly ask?: string
  /** True where the API shows the effect on money and cover at `…/preview`: it is shown with what is asked. */
  readonly isPreviewed?: true
  /** `plain`: what is done seldom. */
  readonly tone?: 'primary' | 'danger' | 'plain'
  /** The part of the answer that is shown once, such as a key. */
  readonly shows?: string
  /** False where the act stands open on the page, instead of behind its title. */
  readonly isFolded?: boolean
}

type Single = Exclude<Field, { kind: 'several' }>

const suggesting = (
  { value, suggests = [] }: Extract<Field, { readonly suggests?: unknown }>,
  id: string,
  common: Properties,
): View => {
  if (suggests.length === 0) return h('input', { ...common, type: 'text', value })
  return [
    h('input', { ...common, type: 'text', value, list: `${id}-offered` }),
    h(
      'datalist',
      { id: `${id}-offered` },
      suggests.map(([offered, shown]) => h('option', { value: offered }, shown)),
    ),
  ]
}

const control = (field: Single, id: string): View => {
  const common = {
    id,
    name: field.name,
    'data-kind': field.kind,
    ...(field.isNullable && { 'data-nullable': '' }),
    ...(field.isRequired && { required: true }),
    ...(field.hint !== undefined && { 'aria-describedby': `${id}-hint` }),
  }
  switch (field.kind) {
    case 'choice':
      return h(
        'select',
        common,
        field.value === undefined && h('option', { value: '' }, ''),
        ...field.choices.map(([value, shown]) => h('option', { value, selected: value === field.value }, shown)),
      )
    case 'lines':
      return h('textarea', { ...common, rows: 3 }, field.value)
    case 'yes or no':
      return h('input', { ...common, type: 'checkbox', value: 'true', checked: field.value === true })
    case 'yes, no or nothing':
      return h(
        'select',
        common,
        h('option', { value: '' }, ''),
        h('option', { value: 'true', selected: field.value === true }, 'yes'),
        h('option', { value: 'false', selected: field.value === false }, 'no'),
      )
    case 'date':
      return h('input', { ...common, type: 'date', value: field.value })
    case 'instant':
      return h('input', { ...common, type: 'datetime-local', value: field.value })
    case 'pounds':
      return h('input', { ...common, inputMode: 'decimal', pattern: String.raw`\d+(\.\d\d)?`, value: field.value })
    case 'number':
      return h('input', { ...common, inputMode: 'decimal', pattern: String.raw`-?\d+(\.\d+)?`, value: field.value })
    case 'whole number':
      return h('input', { ...common, inputMode: 'numeric', pattern: String.raw`-?\d+`, value: field.value })
    case 'text':
      return suggesting(field, id, common)
  }
}

const severalOf = ({ name, label, choices, values = [] }: Extract<Field, { kind: 'several' }>, of: string): View =>
  h(
    'fieldset',
    { class: 'field' },
    h('legend', {}, label),
    choices.map(([value, shown]) => {
      const id = `${of}-${name}-${value}`
      const box = { id, name, type: 'checkbox', value, 'data-kind': 'several', checked: values.includes(value) }
      return h('div', { class: 'check' }, h('input', box), h('label', { for: id }, shown))
    }),
    h('p', { class: 'fault', 'data-fault': name }),
  )

const shownField = (field: Field, of: string): View => {
  if (field.kind === 'several') return severalOf(field, of)
  const id = `${of}-${field.name.replaceAll('.', '-')}`
  const title = h('label', { for: id }, field.label, !field.isRequired && h('span', { class: 'quiet' }, ' (optional)'))
  return h(
    'div',
    { class: field.kind === 'yes or no' ? 'field check' : 'field' },
    field.kind === 'yes or no'
      ? [control(field, id), h('label', { for: id }, field.label)]
      : [title, control(field, id)],
    field.hint !== undefined && h('p', { class: 'hint', id: `${id}-hint` }, field.hint),
    h('p', { class: 'fault', 'data-fault': field.name }),
  )
}

/** A form that does one act of the API. What it sends is made by `browser/acts.ts`; without script it does nothing. */
export const act = (given: Act): View => {
  const {
    title,
    method,
    address,
    sends = {},
    ids = [],
    fields = [],
    isKeyed,
    isCounted,
    sendsChanges,
    shows,
    ask,
    isPreviewed,
    tone = 'primary',
    isFolded = true,
  } = given
  const id = ['act', title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'), given.of].filter(Boolean).join('-')
  const values = { ...sends, ...Object.fromEntries(ids.map((place) => [place, uuidv7()])) }
  const form = h(
    'form',
    {
      class: 'act',
      method: 'dialog',
      'data-act': title,
      'data-method': method,
      'data-address': address,
      'data-sends': JSON.stringify(values),
      ...(isKeyed && { 'data-key': uuidv7() }),
      ...(isCounted && { 'data-counted': '' }),
      ...(sendsChanges && { 'data-changes': '' }),
      ...(shows !== undefined && { 'data-shows': shows }),
      ...(ask !== undefined && { 'data-ask': ask }),
      ...(isPreviewed && { 'data-preview': `${address}/preview` }),
    },
    ...fields.map((field) => shownField(field, id)),
    h('p', { class: 'fault', 'data-fault': '', role: 'alert' }),
    h('button', { type: 'submit', class: tone }, title),
  )
  if (!isFolded || fields.length === 0) return form
  return h('details', { class: 'act' }, h('summary', {}, title), form)
}

/** Choices from the values of the API. */
export const choicesOf = (values: readonly string[]): readonly Choice[] =>
  values.map((value) => [value, labelled(value)])
