import type { Command } from '#infra/process.ts'

export const usage = `Commands for the read models:

  status               how far each consumer of the log has come
  rebuild <name>|all   rebuilds a read model from the first event, next to the one in use
  compare <name>|all   compares a read model, row by row, with a rebuilt one
  resume <name> [stream]  handles the events of records that are set aside, or of one of them
`

export const command: Command = {
  usage,
  understands: ([word = '']) => ['status', 'rebuild', 'compare', 'resume'].includes(word),
}
