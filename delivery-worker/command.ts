import { SentInstant } from '#domain/values.ts'
import type { Command } from '#infra/process.ts'
import { choice } from './planning/planning.ts'

const usage = `Usage: ${choice}

  now          sends what is recorded from now on
  beginning    sends everything in the log that an action asks for, from its first event
  <ISO time>   sends what was recorded from then on, for example 2026-03-01T10:00:00Z
`

export const command: Command = {
  usage,
  understands: ([word, from = '', ...rest]) =>
    word === 'plan-from' && rest.length === 0 && (from === 'now' || from === 'beginning' || isTime(from)),
}

export const isTime = (from: string): boolean => SentInstant.safeParse(from).success
