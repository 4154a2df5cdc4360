export type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

export const isControl = (element: unknown): element is Control =>
  element instanceof HTMLInputElement || element instanceof HTMLSelectElement || element instanceof HTMLTextAreaElement

/** True where it is no longer as it was shown. */
export const isChanged = (control: Control): boolean => {
  if (control instanceof HTMLSelectElement) {
    const { selected } = [...control.options].find(({ defaultSelected }) => defaultSelected) ?? control.options[0] ?? {}
    return selected === false
  }
  return control instanceof HTMLInputElement && control.type === 'checkbox'
    ? control.checked !== control.defaultChecked
    : control.value !== control.defaultValue
}
type Value = string | number | boolean | null | readonly string[]

/** The value of a field as the API takes it; undefined: it was left empty, and is not sent. */
const valueOf = (control: Control): Value | undefined => {
  if (control instanceof HTMLInputElement && control.type === 'checkbox') return control.checked
  const text = control.value.trim()
  if (text === '') return control.dataset['nullable'] === undefined ? undefined : null
  switch (control.dataset['kind'] ?? 'text') {
    case 'pounds':
      return Math.round(Number(text) * 100)
    case 'number':
    case 'whole number':
      return Number(text)
    case 'yes, no or nothing':
      return text === 'true'
    // As the clock of this machine has it.
    case 'instant':
      return new Date(text).toISOString()
    default:
      return text
  }
}

/** The values of boxes of one name that are ticked. */
const ticked = (form: HTMLFormElement, name: string): readonly string[] =>
  [...form.querySelectorAll<HTMLInputElement>('[data-kind="several"]')].flatMap((box) =>
    box.name === name && box.checked ? [box.value] : [],
  )

type Tree = { [key: string]: Tree | Value }

const isTree = (value: Tree | Value | undefined): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const place = (tree: Tree, [step = '', ...rest]: readonly string[], value: Value): void => {
  if (rest.length === 0) {
    tree[step] = value
    return
  }
  const below = tree[step]
  const branch = isTree(below) ? below : {}
  tree[step] = branch
  place(branch, rest, value)
}

/** `{ '0': a, '1': b }` is a list. */
const asSent = (tree: Tree | Value): unknown => {
  if (!isTree(tree)) return tree
  const names = Object.keys(tree)
  const isList = names.length > 0 && names.every((name, index) => name === String(index))
  return isList
    ? names.map((name) => asSent(tree[name] ?? null))
    : Object.fromEntries(names.map((name) => [name, asSent(tree[name] ?? null)]))
}

/** The body of an act: what it always sends, and the fields of its form, each at its place. Undefined: there is none. */
export const bodyOf = (form: HTMLFormElement): object | undefined => {
  const tree: Tree = {}
  const always = JSON.parse(form.dataset['sends'] ?? '{}') as Record<string, Value> // written by the page
  for (const [name, value] of Object.entries(always)) place(tree, name.split('.'), value)
  const controls = [...form.querySelectorAll<Control>('[data-kind]')]
  const changed = new Set(controls.filter(isChanged).map(({ name }) => name))
  for (const control of controls) {
    if (form.dataset['changes'] !== undefined && !changed.has(control.name)) continue
    const value = control.dataset['kind'] === 'several' ? ticked(form, control.name) : valueOf(control)
    if (value !== undefined) place(tree, control.name.split('.'), value)
  }
  return Object.keys(tree).length === 0 ? undefined : (asSent(tree) as object)
}
