export { evolvePerson, expectingOf, nobody, type Person } from './member.ts'
export {
  noCounts,
  OperatedStream,
  renderOperated,
  renderStream,
  ShownCost,
  ShownMember,
  ShownMessage,
  ShownStream,
  type StreamCounts,
} from './shown.ts'
export {
  evolveStream,
  isOpen,
  isWorking,
  noSettings,
  outreachSettingsFold,
  outreachStreamsFold,
  streamsOf,
  type OutreachSettings,
  type OutreachStream,
} from './stream-record.ts'
