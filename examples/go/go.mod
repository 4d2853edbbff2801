module example.com/automation-rules

go 1.19
