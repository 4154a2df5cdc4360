import { LRUCache } from 'lru-cache'

const headerBytes = 24
const slotBytes = 8

/**
 * About how much memory plain data takes: objects, arrays, maps and sets, text and numbers. What occurs twice counts twice.
 * An object too large to be walked through at each change says itself how much, as `approximate_bytes`.
 */
export const approximateBytes = (value: unknown): number => {
  if (typeof value === 'string') return headerBytes + 2 * value.length
  if (typeof value !== 'object' || value === null) return slotBytes
  if (value instanceof Map || value instanceof Set || Array.isArray(value)) return sumOf(value)
  if ('approximate_bytes' in value && typeof value.approximate_bytes === 'number') return value.approximate_bytes
  let bytes = headerBytes
  for (const part of Object.values(value)) bytes += slotBytes + approximateBytes(part)
  return bytes
}

const sumOf = (parts: Iterable<unknown>): number => {
  let bytes = headerBytes
  for (const part of parts) bytes += slotBytes + approximateBytes(part)
  return bytes
}

/** The bytes of something when it was measured, and those added to it since: at most so many. */
export type Size = { readonly measured: number; readonly added: number }

/** The size after parts were added: what grows at each change is not walked through as a whole each time. */
export const grown = (size: Size | undefined, parts: readonly unknown[]): Size | undefined =>
  size && { ...size, added: size.added + approximateBytes(parts) }

/** Measures what was not measured yet, and what may have doubled since, of which much may have been replaced. */
export const sizeOf = (value: unknown, size: Size | undefined): Size =>
  size && size.added <= size.measured ? size : { measured: approximateBytes(value), added: 0 }

/** Keeps the documents that were used last, up to about so many bytes in all. */
export const cacheOfBytes = <Value extends object>(mostBytes: number): LRUCache<string, Value> =>
  new LRUCache({ maxSize: mostBytes, sizeCalculation: (value) => approximateBytes(value) })
