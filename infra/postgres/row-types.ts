import type { CustomTypesConfig } from 'pg'

const identity = (text: string): string => text

/** `2026-01-15 12:00:00.5+01` → `2026-01-15T11:00:00.500Z`. The time zone is that of the session, and may have seconds. */
const instant = (text: string): string => {
  if (text.endsWith('+00')) return new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`).toISOString()
  const [, day = '', time = '', sign, hours, minutes, seconds] = written.exec(text) ?? []
  const aheadSeconds = Number(hours) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds ?? 0)
  const local = Date.parse(`${day}T${time}Z`)
  return new Date(local + (sign === '-' ? aheadSeconds : -aheadSeconds) * 1000).toISOString()
}

const written = /^(\S+) ([\d:.]+)([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?$/

const integer = (text: string): number | bigint => {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : BigInt(text)
}

const json = (text: string): unknown => JSON.parse(text) as unknown

/** Parsers by the numbers that PostgreSQL gives its own types, which never change. */
const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  16: (text) => text === 't',
  20: integer,
  21: Number,
  23: Number,
  114: json,
  1184: instant,
  3802: json,
}

/**
 * The formats of columns of read models, given to each query (`{ ...query, types: rowTypes }`) or to a pool: dates as
 * `YYYY-MM-DD`, instants as ISO 8601 in UTC, whole numbers as numbers (`bigint` beyond 2^53 as BigInt), JSON parsed. The
 * parsers of `pg` itself are shared by the whole process, and stay as they are.
 */
export const rowTypes: CustomTypesConfig = { getTypeParser: (type: number) => parsers[type] ?? identity }
