import { Liquid, toValueSync } from 'liquidjs'
import { OwnError } from '#domain/own-error.ts'

/** The use of a text: it decides how the values of variables are written into it. */
export type TemplateKind = 'json' | 'form' | 'xml' | 'text' | 'path' | 'header'

/** A template that cannot be read, or that takes too long or makes too much. */
export class TemplateFault extends OwnError {
  override readonly name = 'TemplateFault'
}

const longestResult = 262_144
const usualMs = 250

const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : JSON.stringify(value)
}

const xmlNames: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' }

const escapes: Readonly<Record<TemplateKind, (value: unknown) => string>> = {
  json: (value) => JSON.stringify(textOf(value)).slice(1, -1),
  form: (value) => encodeURIComponent(textOf(value).toWellFormed()),
  path: (value) => encodeURIComponent(textOf(value).toWellFormed()),
  xml: (value) => textOf(value).replaceAll(/[&<>"']/g, (character) => `&${xmlNames[character]};`),
  header: (value) => textOf(value),
  text: (value) => textOf(value),
}

/**
 * Liquid, of which nothing reaches beyond the variables: no files, no properties but own ones, and bounds on its length,
 * its time and its memory. `json` writes a whole value in a template for JSON.
 */
const engineFor = (kind: TemplateKind): Liquid => {
  const engine = new Liquid({
    outputEscape: (value: unknown) => escapes[kind](toValueSync(value as string)),
    ownPropertyOnly: true,
    strictFilters: true,
    templates: {},
    parseLimit: 100_000,
    renderLimit: usualMs,
    memoryLimit: 2_000_000,
  })
  engine.registerFilter('json', { raw: true, handler: (value: unknown) => JSON.stringify(value ?? null) })
  return engine
}

const engines = new Map<TemplateKind, Liquid>()

const engineOf = (kind: TemplateKind): Liquid => {
  const engine = engines.get(kind) ?? engineFor(kind)
  engines.set(kind, engine)
  return engine
}

const reasonOf = (error: unknown): string => (error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'unknown')

/** The reason why a template cannot be used; undefined when it can. */
export const templateFault = (kind: TemplateKind, template: string): string | undefined => {
  try {
    engineOf(kind).parse(template)
    return undefined
  } catch (error) {
    return `cannot be read as a template: ${reasonOf(error)}`
  }
}

/**
 * Throws a TemplateFault, also when it takes longer than `withinMs`. That is looked at between the steps of a template, so that
 * one that was made to take long can take longer: render what others have written in a thread of its own.
 */
export const renderTemplate = (
  kind: TemplateKind,
  template: string,
  variables: object,
  withinMs: number = usualMs,
): string => {
  try {
    const made: unknown = engineOf(kind).parseAndRenderSync(template, variables, { renderLimit: withinMs })
    const text = typeof made === 'string' ? made : ''
    if (text.length > longestResult) throw new TemplateFault(`The template made more than ${longestResult} characters.`)
    return text
  } catch (error) {
    if (error instanceof TemplateFault) throw error
    throw new TemplateFault(`The template cannot be used: ${reasonOf(error)}`, { cause: error })
  }
}

/** True where a text is a template: without one of these signs it is sent as it stands. */
export const isTemplate = (text: string): boolean => text.includes('{{') || text.includes('{%')

/** The way values are written into a body, by the Content-Type that its headers give; JSON without one. */
export const bodyKindOf = (headers: Readonly<Record<string, string>>): TemplateKind => {
  const [, type = 'application/json'] =
    Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type') ?? []
  if (/[/+]json\b/i.test(type)) return 'json'
  if (/[/+]xml\b/i.test(type)) return 'xml'
  return /x-www-form-urlencoded/i.test(type) ? 'form' : 'text'
}
