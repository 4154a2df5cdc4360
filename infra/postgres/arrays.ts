/**
 * Arrays in PostgreSQL's binary format. As text, `pg` would escape every quote of every JSON document, and the server
 * would take that apart again.
 */
const array = (elementType: number, bytes: number, count: number, write: (buffer: Buffer, offset: number) => void) => {
  const buffer = Buffer.allocUnsafe(headerBytes + bytes)
  buffer.writeInt32BE(count === 0 ? 0 : 1, 0)
  buffer.writeInt32BE(0, 4)
  buffer.writeInt32BE(elementType, 8)
  buffer.writeInt32BE(count, 12)
  buffer.writeInt32BE(1, 16)
  write(buffer, headerBytes)
  // Without a dimension there is no length and no lower bound.
  return count === 0 ? buffer.subarray(0, 12) : buffer
}

const headerBytes = 20

const strings =
  (elementType: number) =>
  (values: readonly (string | null)[]): Buffer => {
    let bytes = 0
    let hasNull = 0
    for (const value of values) {
      bytes += 4
      if (value === null) hasNull = 1
      else bytes += Buffer.byteLength(value)
    }
    return array(elementType, bytes, values.length, (buffer, start) => {
      buffer.writeInt32BE(hasNull, 4)
      let offset = start
      for (const value of values)
        if (value === null) offset = buffer.writeInt32BE(-1, offset)
        else {
          const length = buffer.write(value, offset + 4)
          offset = buffer.writeInt32BE(length, offset) + length
        }
    })
  }

const fixed =
  <Value>(elementType: number, size: number, write: (buffer: Buffer, value: Value, offset: number) => void) =>
  (values: readonly Value[]): Buffer =>
    array(elementType, values.length * (4 + size), values.length, (buffer, start) => {
      let offset = start
      for (const value of values) {
        offset = buffer.writeInt32BE(size, offset)
        write(buffer, value, offset)
        offset += size
      }
    })

/** For `text[]`. */
export const texts = strings(25)

/** For `json[]`. */
export const jsons = strings(114)

/** For `bytea[]`. */
export const byteas = (values: readonly Buffer[]): Buffer =>
  array(
    17,
    values.reduce((bytes, { length }) => bytes + 4 + length, 0),
    values.length,
    (buffer, start) => {
      let offset = start
      for (const value of values) {
        offset = buffer.writeInt32BE(value.length, offset)
        offset += value.copy(buffer, offset)
      }
    },
  )

/** For `integer[]`. */
export const integers = fixed<number>(23, 4, (buffer, value, offset) => buffer.writeInt32BE(value, offset))

/** For `bigint[]`. */
export const bigints = fixed<number>(20, 8, (buffer, value, offset) => buffer.writeBigInt64BE(BigInt(value), offset))

/** For `uuid[]`. */
export const uuids = fixed<string>(2950, 16, (buffer, value, offset) =>
  buffer.write(value.replaceAll('-', ''), offset, 'hex'),
)
