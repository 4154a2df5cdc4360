import type { ColumnType } from './projection.ts'

/** A value as PostgreSQL reads it: it is sent as text and cast to the type of its column there. */
export const written = (type: ColumnType, value: unknown): string | null => {
  if (value === null || value === undefined) return null
  if (type === 'json') return readableJson(JSON.stringify(value))
  if (typeof value === 'string') return withoutNul(value)
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value)
  if (value instanceof Date) return value.toISOString()
  throw new TypeError(`A column of type ${type} cannot hold ${JSON.stringify(value)}.`)
}

/**
 * PostgreSQL keeps U+0000 and half of a surrogate pair in a `json`, but fails at whoever reads any part of it. A backslash
 * that is escaped itself is passed over.
 */
const readableJson = (json: string): string =>
  json.includes('\\u0000') || json.includes('\\ud')
    ? json.replaceAll(/\\\\|\\u0000|\\ud[89a-f][\da-f]{2}/g, (found) => (found === '\\\\' ? found : '\uFFFD'))
    : json

const withoutNul = (text: string): string => (text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text)

/** A value of a key such that two that are equal in the database are equal here. */
export const keyPart = (type: ColumnType, value: unknown): string => {
  const text = written(type, value)
  if (text === null) throw new TypeError('A key has no empty parts.')
  switch (type) {
    case 'uuid':
      return text.toLowerCase()
    case 'text':
      return text.toWellFormed()
    case 'timestamptz':
      return new Date(text).toISOString()
    case 'boolean':
    case 'integer':
    case 'bigint':
    case 'date':
      return text
    case 'json':
      throw new TypeError('JSON cannot be part of a key.')
  }
}
