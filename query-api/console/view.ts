import type { Element, Properties } from 'hast'
import { h as element, s as drawn } from 'hastscript'
import { toHtml } from 'hast-util-to-html'

/** A part of a page: text is never read as markup. What is nothing is left out. */
export type View = Element | string | number | null | undefined | false | readonly View[]

const isList = (view: View): view is readonly View[] => Array.isArray(view)

const flat = (views: readonly View[]): (Element | string | number)[] =>
  views.flatMap((view) => {
    if (view === null || view === undefined || view === false) return []
    return isList(view) ? flat(view) : [view]
  })

/** An element with its attributes and what is in it. */
export const h = (name: string, properties: Properties, ...children: View[]): Element =>
  Object.assign(element(name, flat(children)), { properties: element(name, properties).properties })

/** An element of a drawing. */
export const s = (name: string, properties: Properties, ...children: View[]): Element =>
  Object.assign(drawn(name, flat(children)), { properties: drawn(name, properties).properties })

export const htmlOf = (view: Element): string => `<!doctype html>${toHtml(view)}`
