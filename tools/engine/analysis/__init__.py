"""What AnalyzeConversation finds in a reply, without storing or doing anything: detection, verdicts, conflicts, ranking."""
