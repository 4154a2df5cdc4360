type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement
type Value = string | number | boolean | null

/** The value of a field as the API takes it; undefined: it was left empty, and is not sent. */
const valueOf = (control: Control): Value | undefined => {
  if (control instanceof HTMLInputElement && control.type === 'checkbox') return control.checked
  const text = control.value.trim()
  if (text === '') return control.dataset['nullable'] === undefined ? undefined : null
  switch (control.dataset['kind'] ?? 'text') {
    case 'pounds':
      return Math.round(Number(text) * 100)
    case 'whole number':
      return Number(text)
    // As the clock of this machine has it.
    case 'instant':
      return new Date(text).toISOString()
    default:
      return text
  }
}

type Tree = { [key: string]: Tree | Value }

const place = (tree: Tree, [step = '', ...rest]: readonly string[], value: Value): void => {
  if (rest.length === 0) {
    tree[step] = value
    return
  }
  const below = tree[step]
  const branch = typeof below === 'object' && below !== null ? below : {}
  tree[step] = branch
  place(branch, rest, value)
}

/** `{ '0': a, '1': b }` is a list. */
const asSent = (tree: Tree | Value): unknown => {
  if (typeof tree !== 'object' || tree === null) return tree
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
  for (const control of form.querySelectorAll<Control>('[data-kind]')) {
    const value = valueOf(control)
    if (value !== undefined) place(tree, control.name.split('.'), value)
  }
  return Object.keys(tree).length === 0 ? undefined : (asSent(tree) as object)
}
