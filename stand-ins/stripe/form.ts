/** The form that a Stripe client sends, whose names tell of objects within objects, `metadata[quote_id]=…`, `expand[0]=…`. */
export type Form = { readonly [name: string]: string | Form | undefined }

export const parseForm = (text: string): Form => {
  const form: Record<string, unknown> = {}
  for (const [name, value] of new URLSearchParams(text)) {
    const path = name.replaceAll(']', '').split('[')
    let at = form
    for (const part of path.slice(0, -1)) {
      const inner = typeof at[part] === 'object' && at[part] !== null ? at[part] : {}
      at = at[part] = inner as Record<string, unknown>
    }
    at[path.at(-1) || String(Object.keys(at).length)] = value
  }
  return form as Form
}

export const textOf = (form: Form | undefined, name: string): string | undefined => {
  const value = form?.[name]
  return typeof value === 'string' ? value : undefined
}

export const formOf = (form: Form | undefined, name: string): Form | undefined => {
  const value = form?.[name]
  return typeof value === 'object' ? value : undefined
}

/** A list, which comes as an object with its places as names. */
export const listOf = (form: Form, name: string): readonly string[] =>
  Object.values(formOf(form, name) ?? {}).filter((value) => typeof value === 'string')
