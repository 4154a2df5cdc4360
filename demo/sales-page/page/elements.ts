type Properties = Readonly<Record<string, string | number | boolean | EventListener | undefined>>
type Child = Node | string | undefined | false

/** An element with attributes, listeners (`onclick`) and children. Text is never read as markup. */
export const h = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Properties = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] => {
  const element = document.createElement(name)
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue
    if (typeof value === 'function') element.addEventListener(key.slice(2), value)
    else element.setAttribute(key, value === true ? '' : String(value))
  }
  element.append(...children.filter((child) => child !== undefined && child !== false))
  return element
}

export type Field = {
  readonly name: string
  readonly label: string
  readonly hint?: string | null
  readonly value?: string
  readonly type?: string
  readonly inputmode?: string
  readonly autocomplete?: string
  readonly className?: string
  readonly suggestions?: readonly string[]
}

/** A label that says so where nothing must be answered. */
export const labelled = (label: string, isRequired: boolean): string => (isRequired ? label : `${label} (optional)`)

export const hintOf = (id: string, hint: string | null | undefined) =>
  hint === null || hint === undefined ? undefined : h('p', { class: 'hint', id: `${id}-hint` }, hint)

/** A labelled input. */
export const input = (field: Field): HTMLElement => {
  const { name, label, hint, value = '', type = 'text', inputmode, autocomplete, className, suggestions } = field
  const list = suggestions && suggestions.length > 0 ? `${name}-list` : undefined
  return h(
    'div',
    { class: 'field' },
    h('label', { for: name }, label),
    hintOf(name, hint),
    h('input', {
      id: name,
      name,
      type,
      value,
      inputmode,
      autocomplete: autocomplete ?? 'off',
      class: className,
      list,
      'aria-describedby': hint ? `${name}-hint` : undefined,
    }),
    list !== undefined &&
      h('datalist', { id: list }, ...(suggestions ?? []).map((suggestion) => h('option', { value: suggestion }))),
  )
}

/** Fills an input as if its visitor had: whatever follows what is typed there follows. */
export const fillIn = (field: HTMLElement, value: string): void => {
  const target = field instanceof HTMLInputElement ? field : field.querySelector('input')
  if (!target) return
  target.value = value
  target.dispatchEvent(new Event('input', { bubbles: true }))
}

export type Option = {
  readonly value: string
  readonly label: string
  /** Said below the label. */
  readonly detail?: string
}

const shortLabel = 6

/** Yes and no stand side by side. */
const isPair = (options: readonly Option[]): boolean =>
  options.length === 2 && options.every(({ label }) => label.length <= shortLabel)

/** One or several of a list, as radio buttons or checkboxes. */
export const choice = (
  field: Pick<Field, 'name' | 'label' | 'hint'>,
  options: readonly Option[],
  { chosen = [], type = 'radio' }: { readonly chosen?: readonly string[]; readonly type?: 'radio' | 'checkbox' } = {},
): HTMLElement => {
  const { name, label, hint } = field
  return h(
    'fieldset',
    {
      class: isPair(options) ? 'field pair' : 'field',
      id: name,
      'aria-describedby': hint ? `${name}-hint` : undefined,
    },
    h('legend', {}, label),
    hintOf(name, hint),
    ...options.map((option, index) =>
      h(
        'label',
        { class: 'option', for: `${name}-${index}` },
        h('input', {
          type,
          id: `${name}-${index}`,
          name,
          value: option.value,
          checked: chosen.includes(option.value),
        }),
        option.detail === undefined
          ? option.label
          : h('span', {}, h('strong', {}, option.label), h('span', { class: 'quiet detail' }, option.detail)),
      ),
    ),
  )
}

export const select = (field: Pick<Field, 'name' | 'label' | 'hint' | 'value'>, options: readonly Option[]) => {
  const { name, label, hint, value } = field
  return h(
    'div',
    { class: 'field' },
    h('label', { for: name }, label),
    hintOf(name, hint),
    h(
      'select',
      { id: name, name },
      ...options.map((option) => h('option', { value: option.value, selected: option.value === value }, option.label)),
    ),
  )
}

export const button = (text: string, onclick: () => void, className = 'second'): HTMLElement =>
  h('button', { type: 'button', class: className, onclick }, text)

export const list = (items: readonly string[]): HTMLElement => h('ul', {}, ...items.map((item) => h('li', {}, item)))

/** A list of terms and their values. */
export const facts = (given: readonly (readonly [string, string])[]): HTMLElement =>
  h('dl', {}, ...given.flatMap(([term, value]) => [h('dt', {}, term), h('dd', {}, value)]))

export const pounds = (pence: number): string =>
  new Intl.NumberFormat('en-GB', {
    style: 'currency',
    currency: 'GBP',
    maximumFractionDigits: pence % 100 === 0 ? 0 : 2,
  }).format(pence / 100)

const ordinals: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd', other: 'th' }
const ordinalRules = new Intl.PluralRules('en-GB', { type: 'ordinal' })

/** `1st`, `14th`. */
export const ordinal = (number: number): string => `${number}${ordinals[ordinalRules.select(number)] ?? 'th'}`

export const day = (date: string): string =>
  new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(
    new Date(`${date.slice(0, 10)}T00:00Z`),
  )
