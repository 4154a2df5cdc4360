import { createReadStream } from 'node:fs'

/** Longer than any event. */
const mostBytes = 64_000_000
const newline = 0x0a

/** The lines of a file as they are, each with the newline that ends it; the last may have none. */
export async function* linesOf(file: string): AsyncGenerator<Buffer> {
  let rest: Buffer[] = []
  let length = 0
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    let from = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      yield Buffer.concat([...rest, chunk.subarray(from, end + 1)])
      rest = []
      length = 0
      from = end + 1
    }
    rest.push(chunk.subarray(from))
    length += chunk.length - from
    if (length > mostBytes) throw new RangeError(`${file} has a line of more than ${mostBytes} bytes.`)
  }
  if (length > 0) yield Buffer.concat(rest)
}
