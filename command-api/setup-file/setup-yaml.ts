import { setImmediate } from 'node:timers/promises'
import { Document, isScalar, visit } from 'yaml'

/** Nothing is folded, and nothing stands for what was written before: two exports can be compared line by line. */
const written = { lineWidth: 0 }

/**
 * The YAML of a set-up file with one organisation, `own` being its own settings. A long file takes a second to write: requests of
 * others come in between.
 */
export const yamlOf = async (
  own: Readonly<Record<string, unknown>>,
  sections: Readonly<Record<string, readonly unknown[]>>,
  mostCharacters: number,
): Promise<string | undefined> => {
  const parts = [`organisations:\n${indented(yaml([own]), 2)}`]
  let length = 0
  for (const [key, items] of Object.entries(sections)) {
    parts.push(items.length === 0 ? `    ${key}: []\n` : `    ${key}:\n`)
    for (const item of items) {
      await setImmediate()
      const text = indented(yaml([item]), 6)
      length += text.length
      if (length > mostCharacters) return undefined
      parts.push(text)
    }
  }
  return parts.join('')
}

const yaml = (value: unknown): string => {
  const document = new Document(value, { aliasDuplicateObjects: false })
  visit(document, {
    Pair: (_key, { key }) => {
      // Plain, it would stand for the keys of another mapping.
      if (isScalar(key) && key.value === '<<') key.type = 'QUOTE_DOUBLE'
    },
  })
  return document.toString(written)
}

const indented = (text: string, by: number): string =>
  text
    .split('\n')
    .map((line) => (line === '' ? line : ' '.repeat(by) + line))
    .join('\n')
