import type { ColumnType } from './projection.ts'

/** A value as PostgreSQL reads it: whatever its column, it is sent as text and cast there. */
export const written = (type: ColumnType, value: unknown): string | null => {
  if (value === null || value === undefined) return null
  if (type === 'json') return JSON.stringify(value)
  if (typeof value === 'string') return withoutNul(value)
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value)
  if (value instanceof Date) return value.toISOString()
  throw new TypeError(`A column of type ${type} cannot hold ${JSON.stringify(value)}.`)
}

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

/** A `text[]` in PostgreSQL's binary format: as text, every quote of every document would have to be escaped. */
export const textArray = (values: readonly (string | null)[]): Buffer => {
  if (values.length === 0) return Buffer.from(emptyArray)
  let bytes = headerBytes
  let hasNull = 0
  for (const value of values) {
    bytes += 4
    if (value === null) hasNull = 1
    else bytes += Buffer.byteLength(value)
  }
  const buffer = Buffer.allocUnsafe(bytes)
  let offset = 0
  for (const part of [1, hasNull, textType, values.length, 1]) offset = buffer.writeInt32BE(part, offset)
  for (const value of values)
    if (value === null) offset = buffer.writeInt32BE(-1, offset)
    else {
      const length = buffer.write(value, offset + 4)
      offset = buffer.writeInt32BE(length, offset) + length
    }
  return buffer
}

const textType = 25
const headerBytes = 20
const emptyArray = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, textType]
